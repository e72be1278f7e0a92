"""Records what Hugging Face's tokenizers 0.23.3 learn and encode: python make_tokenizers.py"""

import json
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import BPE, WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Split, Whitespace
from tokenizers import Regex
from tokenizers.trainers import BpeTrainer, WordLevelTrainer

TRAIN = [
    "The quick brown fox jumps over the lazy dog; the dog sleeps.",
    "An ensemble of networks knows what it does not know.",
    "Networks that disagree are uncertain: uncertainty is knowledge!",
    "Größe, naïve café, снег и ветер, 東京 2026 — 100%.",
    "low lower lowest newer newest wider widest low low new new",
    "snake_case and under_scores don't split, but don't does...",
    "\U0001f600\U0001f600 emoji \U0001f680 rocket",
]
ENCODE = TRAIN + ["", "   ", "Lowest ensembles unknownish zz\u00e9 \U0001f600!", "newest, NEWEST; knowing"]
# U+0085 is white space and U+FEFF is none; U+00A0, U+2028 and U+3000 are.
ENCODE += ["new\u0085low", "\ufefflow newest", "low\ufeffnew", "dog\u00a0fox\u2028low\u3000new"]
SPECIAL = ["<pad>", "<unk>"]


def record(kind, size):
    if kind == "bpe":
        tokenizer = Tokenizer(BPE(unk_token="<unk>"))
        trainer = BpeTrainer(vocab_size=size, special_tokens=SPECIAL, show_progress=False)
    else:
        tokenizer = Tokenizer(WordLevel(unk_token="<unk>"))
        trainer = WordLevelTrainer(vocab_size=size, special_tokens=SPECIAL, show_progress=False)
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Split(Regex(r"[\s\S]"), "isolated") if kind == "character" else Whitespace()
    tokenizer.train_from_iterator(TRAIN, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    return {
        "kind": kind,
        "size": size,
        "tokens": [token for token, _ in vocabulary],
        "merges": model.get("merges", []),
        "ids": [tokenizer.encode(text).ids for text in ENCODE],
    }


cases = [record(kind, size) for kind, size in [("word", 10000), ("word", 20), ("character", 40), ("bpe", 90), ("bpe", 130), ("bpe", 10000)]]
Path(__file__).with_name("tokenizers.json").write_text(
    json.dumps({"train": TRAIN, "encode": ENCODE, "cases": cases}, ensure_ascii=False, indent=1) + "\n"
)
