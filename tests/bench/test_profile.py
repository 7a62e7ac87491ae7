from bench.profile import SAMPLES_PER_SECOND, Costs

STACKS = """\
thread (7): MainThread;<module> (ours.py:1);import_it (x.py:1) 40
thread (7): MainThread;<module> (ours.py:1);Runner.run (r.py:1);fetch (f.py:1);parse (p.py:1) 30
thread (7): MainThread;<module> (ours.py:1);Runner.run (r.py:1);fetch (f.py:1) 10
thread (8): sqlite-writer;commit (s.py:1) 5
thread (9) 3
"""


def test_samples_become_costs_of_a_page():
    costs = Costs(pages=100)
    costs.add(STACKS)
    assert costs.whole["fetch (f.py:1)"] == 40
    assert costs.own["fetch (f.py:1)"] == 10
    assert costs.whole["import_it (x.py:1)"] == costs.whole["<module> (ours.py:1)"] == 0
    assert costs.threads == {"MainThread": 40, "sqlite-writer": 5}
    assert costs.micros(SAMPLES_PER_SECOND) == 10_000


def test_a_function_that_calls_itself_counts_once():
    costs = Costs(pages=1)
    costs.add("thread (7): MainThread;Runner.run (r.py:1);walk (w.py:1);walk (w.py:1) 6\n")
    assert costs.whole["walk (w.py:1)"] == 6
