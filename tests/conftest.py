"""What all tests share: properties are searched without a limit of time.

Machines that run the tests are shared, so time says nothing about the code.
"""

from hypothesis import HealthCheck, settings

settings.register_profile("xtile", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("xtile")
