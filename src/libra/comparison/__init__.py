"""Mechanisms side by side: the same logs, the same budgets, the same measures, and what each took.

Settings and budgets become a plan, the plan becomes runs, each in a process of its own, and runs become outcomes.
"""
