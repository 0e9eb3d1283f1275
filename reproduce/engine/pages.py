"""The report of all experiments, as Markdown and as one self-contained HTML page."""

from __future__ import annotations

import base64
import html
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.report import Table
from reproduce.engine.cells import RULE, Verdict
from reproduce.engine.notes import Note
from reproduce.engine.outcome import NO_TEST, Outcome, tally

__all__ = ["html_page", "markdown_page"]

TITLE = "Reproduction of published tables and figures"
STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #1a7f5a; --best: #2563c9; --bad: #b5472f; }
@media (prefers-color-scheme: dark) { :root { --good: #4cc38a; --best: #7aa7f7; --bad: #f2866b; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; }
table { border-collapse: collapse; font-size: .85rem; margin: 1rem 0; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child, .summary :is(th, td):nth-child(2) { text-align: left; }
.scroll { overflow-x: auto; }
.reproduced { color: var(--good); } .better { color: var(--best); } .not { color: var(--bad); }
img { max-width: 100%; height: auto; background: #fff; border-radius: 4px; }
code { font-size: .9em; }
summary { cursor: pointer; }
"""


def _summary(outcomes: Sequence[Outcome]) -> Table:
    rows = []
    whole: Counter[Verdict] = Counter()
    tests: Counter[Verdict] = Counter()
    for outcome in outcomes:
        found = tally(outcome.judged)
        whole += found
        tests += tally(outcome.judged, tests_only=True)
        rows.append([outcome.name, outcome.experiment.source, *_summarise_counts(found)])
    rows.append(["all", "", *_summarise_counts(whole)])
    rows.append(["all except no test", "", *_summarise_counts(tests)])
    head = [
        "experiment",
        "source",
        "values",
        *(str(verdict) for verdict in Verdict),
        "reproduced or better",
    ]
    return Table("Published values for relevance vector machines and related models", head, rows)


def _summarise_counts(found: Counter[Verdict]) -> list[str]:
    n = found.total()
    if not n:
        return ["plots only", *["–"] * (len(Verdict) + 1)]
    reached = f"{100 * (n - found[Verdict.MISSED]) / n:.1f} %"
    return [str(n), *(str(found[verdict]) for verdict in Verdict), reached]


def _missed(outcome: Outcome, notes: Sequence[Note]) -> list[str]:
    return [f"**{'; '.join(cells)}**: {text}" for text, cells in outcome.misses(notes)]


def markdown_page(
    outcomes: Sequence[Outcome], facts: str, notes: Sequence[Note], figures: str
) -> str:
    """Return the report in Markdown.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Finished experiments.
    facts : str
        Command, hardware, versions.
    notes : sequence of Note
        Explanations of values that were not reproduced.
    figures : str
        Folder of the plots, relative to the page.
    """
    parts = [f"# {TITLE}", facts, RULE.rstrip(), _summary(outcomes).markdown()]
    for outcome in outcomes:
        parts += [f"## {outcome.name}", f"{outcome.experiment.source}: {outcome.experiment.title}."]
        parts.append(outcome.experiment.protocol.strip())
        if outcome.judged:
            parts.append(outcome.table.markdown())
        parts += [f"- {line}" for line in _missed(outcome, notes)]
        parts += [table.markdown() for table in outcome.tables]
        parts += [f"![{name}]({figures}/{name}.png)" for name in outcome.figures]
    return "\n\n".join(parts) + "\n"


def _inline(text: str) -> str:
    """Return a line of Markdown as HTML: code and bold."""
    parts = re.split(r"`([^`]+)`", html.escape(text, quote=False))
    parts[::2] = [re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", part) for part in parts[::2]]
    parts[1::2] = [f"<code>{part}</code>" for part in parts[1::2]]
    return "".join(parts)


def _blocks(text: str) -> str:
    """Return paragraphs and lists of Markdown as HTML."""
    found = []
    for block in re.split(r"\n\s*\n", text.strip()):
        if block.startswith("- "):
            items = re.split(r"\n(?=- )", block)
            found.append("<ul>")
            found += [f"<li>{_inline(' '.join(item[2:].split()))}</li>" for item in items]
            found.append("</ul>")
        else:
            found.append(f"<p>{_inline(' '.join(block.split()))}</p>")
    return "\n".join(found)


def _cell(tag: str, text: str) -> str:
    verdict = text.removeprefix(NO_TEST)
    kind = verdict.split()[0] if verdict in set(Verdict) else ""
    mark = f' class="{kind}"' if kind else ""
    return f"<{tag}{mark}>{html.escape(text)}</{tag}>"


def _html_table(table: Table, kind: str = "plain") -> str:
    head = "".join(_cell("th", name) for name in table.head)
    rows = ("".join(_cell("td", text) for text in row) for row in table.rows)
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    caption = f"<caption>{html.escape(table.title)}</caption>" if table.title else ""
    return (
        f'<div class="scroll"><table class="{kind}">{caption}<tr>{head}</tr>\n{body}</table></div>'
    )


def _image_html(path: Path) -> str:
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return f'<p><img alt="{html.escape(path.stem)}" src="data:image/png;base64,{data}"></p>'


def html_page(outcomes: Sequence[Outcome], facts: str, notes: Sequence[Note], figures: Path) -> str:
    """Return the report as a self-contained HTML page, plots included.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Finished experiments.
    facts : str
        Command, hardware, versions.
    notes : sequence of Note
        Explanations of values that were not reproduced.
    figures : Path
        Folder of the plots.
    """
    parts = [
        f"<h1>{TITLE}</h1>",
        _blocks(facts),
        _blocks(RULE),
        _html_table(_summary(outcomes), "summary"),
    ]
    for outcome in outcomes:
        link = f'<td><a href="#{outcome.name}">{outcome.name}</a></td>'
        parts[-1] = parts[-1].replace(f"<td>{outcome.name}</td>", link)
    for outcome in outcomes:
        experiment = outcome.experiment
        parts.append(f'<h2 id="{outcome.name}">{outcome.name}</h2>')
        parts.append(_blocks(f"**{experiment.source}**: {experiment.title}."))
        words = "Protocol: what was done and what was assumed"
        parts.append(f"<details><summary>{words}</summary>{_blocks(experiment.protocol)}</details>")
        if outcome.judged:
            parts.append(_html_table(outcome.table))
        missed = _missed(outcome, notes)
        if missed:
            parts.append(_blocks("\n".join(f"- {line}" for line in missed)))
        parts += [_image_html(figures / f"{name}.png") for name in outcome.figures]
        parts += [_html_table(table) for table in outcome.tables]
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{TITLE}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )
