"""Whether two versions of relvec give the same results, and what each of them costs."""
