# SPDX-License-Identifier: Apache-2.0
"""Trainings across sites (docs/sites.md) over the connections that a Flower or NVFlare network has."""
