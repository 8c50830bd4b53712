"""How much memory this process may use."""

from __future__ import annotations

import os
import sys

# Where the system does not say.
_UNKNOWN = 8 * 2**30


def total_memory() -> int:
    """Bytes of memory of the machine, or of this process where less is allowed."""
    if sys.platform == "win32":
        return _UNKNOWN
    import resource

    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    return total if allowed == resource.RLIM_INFINITY else min(total, allowed)
