"""Settings of the site; `make docs` builds it."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
from sphinx_gallery.sorting import ExplicitOrder

import relvec

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))
mpl.use("Agg")

project = "relvec"
author = "The relvec developers"
project_copyright = "The relvec developers"
version = release = relvec.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "docstrings",
    "mathml",
    "repository_links",
]
exclude_patterns = ["_ext", "gallery/*.ipynb", "gallery/*.py", "gallery/*.zip"]
templates_path = ["_templates"]
nitpicky = False

# Markdown
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist", "attrs_block"]
myst_heading_anchors = 4
# A page that shows a part of a file may begin below the first level.
suppress_warnings = ["myst.header"]

# Reference
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
add_function_parentheses = False
toc_object_entries_show_parents = "hide"

# Pages
WIDE = [
    "glossary",
    "index",
    "comparison",
    "notation",
    "benchmarks",
    "accuracy",
    "reproduced",
    "results",
    "guide/command_line",
]
html_theme = "pydata_sphinx_theme"
html_title = "relvec"
html_static_path = ["_static"]
html_css_files = ["relvec.css"]
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "mathml"
html_theme_options = {
    "logo": {"text": "relvec"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_prev_next": True,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    # pages with wide tables need the full width
    "secondary_sidebar_items": {"**": ["page-toc"]} | {page: [] for page in WIDE},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "start": [], "changelog": [], "comparison": []}
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
# no copy button on the output of a block
copybutton_selector = "div:not(.highlight-output) > div.highlight > pre"
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

# Examples, from the first steps to whole data sets
EXAMPLES = [
    "quickstart.py",
    "how_sparsity_arises.py",
    "error_bars.py",
    "heteroscedastic_noise.py",
    "outliers.py",
    "skewed_targets.py",
    "photograph_line.py",
    "mixed_basis.py",
    "counts.py",
    "named_columns.py",
    "texts.py",
    "smoothness_priors.py",
    "tied_precisions.py",
    "trend_and_season.py",
    "local_optima.py",
    "assessing.py",
    "comparing_models.py",
    "sampling.py",
    "classification.py",
    "iris_three_classes.py",
    "breast_cancer_decisions.py",
    "digits_relevance_vectors.py",
    "feature_selection.py",
    "wine_features.py",
    "kernel_search.py",
    "kernel_search_table.py",
    "density.py",
    "bump_hunt.py",
    "denoising.py",
    "missing_pixels.py",
    "source_separation.py",
]
sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": ExplicitOrder([*EXAMPLES, "*"]),
    "image_scrapers": ("matplotlib", "written_plots.scrape"),
    "reset_argv": "written_plots.arguments",
    "min_reported_time": 1,
    "show_memory": False,
    # examples print their results
    "capture_repr": (),
    "write_computation_times": False,
    "show_signature": False,
    "remove_config_comments": True,
    "plot_gallery": True,
    "abort_on_example_error": True,
    "parallel": False,
    "copyfile_regex": r".*\.rst",
    "doc_module": ("relvec",),
    "reference_url": {"relvec": None},
    "backreferences_dir": "gallery/uses",
}
