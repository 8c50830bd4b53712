"""What all tests share."""

import os

# Tests run in several processes: one thread in each, or the cores spend their time waiting.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import HealthCheck, settings

# A run can be repeated: the same examples every time.
settings.register_profile(
    "rarefind", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("rarefind")
