"""What all tests share: a fixed Hypothesis profile, so that a run can be repeated."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "rarefind", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("rarefind")
