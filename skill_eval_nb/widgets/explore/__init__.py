"""Exploring a workspace: the verdict, the deltas, the variance and the runs behind them."""

from .explorer import Explore, explore

__all__ = ["Explore", "explore"]
