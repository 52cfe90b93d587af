"""TOML and JSON files of instances, clusters and laws of sizes, and the catalogue of prices.

`document` reads TOML and JSON, `record` reads a table into a dataclass by its annotations, whose marks are in `forms`,
`written` writes it back, `schema` says which documents are such tables, `kinds` recognises files of the wrong kind, and
`places` decides what is read and written and keeps outputs away from inputs. `instances`, `clusters`, `sizes` and
`items` read one format each, `planned_types` the types of a plan, `price_catalogue` those of the clouds. `table` opens
a table of any form, `plain` finds the cells of plain text, `cells` reads one cell, `columns` whole columns, and
`headers` says what columns are. `answer` keeps standard output for the answer of a command, `code` runs an author's
code and says what it is.
"""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "document": ("Fields", "read_document"),
        "record": ("Expected", "Range", "Reading", "fields_of", "read"),
        "places": ("refuse_unwritable", "write_json", "write_text"),
        "instances": ("instance_document", "parse_instance", "read_instance", "write_instance"),
        "clusters": ("cluster_document", "parse_cluster", "read_cluster"),
        "sizes": ("Sizes", "parse_sizes", "read_sizes", "sizes_document"),
        "google_machines": ("google_cluster",),
        "price_catalogue": ("catalogue", "catalogue_instance"),
    },
)
