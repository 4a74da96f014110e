"""Answers what the tests ask: a question a line on stdin, an answer a line on stdout."""
import json
import sys


def converse(**answers):
    """Each answer is a function of what stands in the question beside its name; what has none is answered with true."""
    for line in sys.stdin:
        question = json.loads(line)
        answer = answers.get(question.pop("ask"), lambda: True)
        print(json.dumps(answer(**question)), flush=True)
