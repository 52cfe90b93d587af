"""Real arrivals: Google 2011, Alibaba 2023 and plain CSV, and what the papers do to them before they simulate."""

from fluid.trace.alibaba import read_alibaba
from fluid.trace.google import read_google_events, read_google_table
from fluid.trace.model import Outcome, Trace
from fluid.trace.plain import read_plain
from fluid.trace.preprocess import (
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
from fluid.trace.readers import read_trace

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
