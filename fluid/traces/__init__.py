"""Real arrivals: Google 2011, Alibaba 2023 and plain CSV, and what the papers do to them before they simulate."""

from fluid.traces.alibaba import read_alibaba
from fluid.traces.google import read_google_events, read_google_table
from fluid.traces.model import Outcome, Trace
from fluid.traces.plain import read_plain
from fluid.traces.preprocess import (
    completed,
    exposure_mean,
    mean_duration,
    of_classes,
    powers_of_half,
    priority_classes,
    single_resource,
    stretched,
    window,
)
from fluid.traces.readers import read_trace

__all__ = [
    "Outcome",
    "Trace",
    "completed",
    "exposure_mean",
    "mean_duration",
    "of_classes",
    "powers_of_half",
    "priority_classes",
    "read_alibaba",
    "read_google_events",
    "read_google_table",
    "read_plain",
    "read_trace",
    "single_resource",
    "stretched",
    "window",
]
