"""Threads of OpenMP sleep while they wait, unless the user says otherwise."""

import os
import subprocess
import sys

import pytest

SHOW = "import os, sys, {first}, rarefind; print(os.environ.get('OMP_WAIT_POLICY'))"


def policy(first="os", **given):
    inherited = {k: v for k, v in os.environ.items() if k != "OMP_WAIT_POLICY"}
    done = subprocess.run(
        [sys.executable, "-c", SHOW.format(first=first)],
        env=inherited | given,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_threads_sleep_by_default():
    assert policy() == "PASSIVE"


def test_what_the_user_has_set_stays():
    assert policy(OMP_WAIT_POLICY="ACTIVE") == "ACTIVE"


def test_openmp_that_is_there_already_is_left_alone():
    assert policy(first="sklearn") == "None"


@pytest.mark.skipif(sys.platform != "linux", reason="how libgomp tells what it has read")
def test_the_runtime_of_xgboost_has_read_it():
    environment = {
        k: v for k, v in os.environ.items() if k not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
    }
    done = subprocess.run(
        [sys.executable, "-c", "import rarefind, xgboost"],
        env=environment | {"OMP_DISPLAY_ENV": "verbose"},
        capture_output=True,
        text=True,
        check=True,
    )
    # It calls an unset policy PASSIVE too, but spins 300,000 times then.
    assert "GOMP_SPINCOUNT = '0'" in done.stderr
