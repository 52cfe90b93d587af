"""TOML and JSON files of instances, clusters and laws of sizes, and the catalogue of prices."""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "document": ("Fields", "read_document"),
        "places": ("refuse_unwritable", "write_json", "write_text"),
        "instances": ("instance_document", "parse_instance", "read_instance", "write_instance"),
        "clusters": ("cluster_document", "parse_cluster", "read_cluster"),
        "sizes": ("Sizes", "parse_sizes", "read_sizes", "sizes_document"),
        "google": ("google_cluster",),
        "price_catalogue": ("catalogue", "catalogue_instance"),
    },
)
