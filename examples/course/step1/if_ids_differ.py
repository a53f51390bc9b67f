"""If something goes wrong: other ids are no problem as long as the text comes back.

Answers "If something goes wrong" of the first course. ModuleNotFoundError means the wrong folder there;
here it means that the Python that runs has no byteloom: `pip install .` in the project's folder.
"""

from __future__ import annotations

from byteloom.course.step1 import Tokenizer

texts = {
    "the course's text": "the cat and the can and the cat",
    "other words": "a hat and a bat and a hat in the hall",
    "other letters": "кот и кит и кот",
    "nothing at all": "",
}
for name, text in texts.items():
    tok = Tokenizer.train(text, 270)
    ids = tok.encode("the cat")
    print(f"{name}: {ids} {tok.decode(ids) == 'the cat'}")

# Training is repeatable: equally frequent pairs are decided by the smaller ids.
twice = [Tokenizer.train("qq pp qq pp", 262).merges for _ in range(2)]
print("the same text, the same merges:", twice[0] == twice[1], list(twice[0]))
