"""Real arrivals: Google 2011, Alibaba 2023 and plain CSV, and what the papers do to them before they simulate.

Tables are read by their formats (`theory.files.formats`), which `google`, `alibaba`, `mapped`, `guessed` and `readers`
have; `clocks` decides how the times of a log are written, and `tasks` puts tasks in order. `preprocess` has what the
papers do to a trace, `types` and `jobs` the jobs that it becomes.
"""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "alibaba": ("read_alibaba", "read_alibaba_2018"),
        "guessed": ("guess_columns", "read_guessed"),
        "google": ("read_google_2019", "read_google_events", "read_google_table"),
        "mapped": ("read_mapped",),
        "model": ("Outcome", "Trace"),
        "preprocess": (
            "completed",
            "exposure_mean",
            "mean_duration",
            "of_classes",
            "powers_of_half",
            "priority_classes",
            "single_resource",
            "stretched",
            "window",
        ),
        "readers": ("read_plain", "read_trace"),
        "file": ("TraceFile",),
        "jobs": ("TICK", "TraceJobs", "sized_jobs", "typed_jobs"),
        "task_columns": ("TaskColumns", "named_columns"),
        "types": ("tasks_of",),
    },
)
