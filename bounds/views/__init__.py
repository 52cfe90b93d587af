"""What a person or a program sees: one file a subject, with its answer, its text and its picture.

`checked` refuses a file that is no answer; `pictures` is the style of all pictures; `panels` has curves, bars and
tables as data, which `drawing` draws and a CSV holds.
"""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "admission_pictures": ("picture_of_beliefs", "picture_of_frontier", "picture_of_law", "picture_of_tuning"),
        "assignment": ("picture_of_scaling",),
        "worst": ("picture_of_sizes", "ratios_on_record"),
        "fluid": ("picture_of_crosscheck", "picture_of_phases"),
        "max_weight": ("picture_of_flow",),
        "drawing": ("picture_of_panels",),
        "panels": ("Bars", "Chart", "Curve", "Line"),
        "pictures": ("figure", "save", "styled"),
        "region": ("picture_of_region",),
        "scripts": ("arguments",),
        "sharing_answers": ("all_shares_answer", "shares_answer"),
        "sharing_pictures": ("picture_of_shares",),
        "shown": ("text_of",),
        "simulation": ("chart_over_time", "picture_of_simulation"),
        "text": ("short",),
        "throughput": ("picture_of_guarantees",),
    },
)
