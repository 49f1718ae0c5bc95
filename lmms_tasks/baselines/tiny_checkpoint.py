"""The checkpoint of the tiny vision-language model: a Gemma 3 of about 0.1 million random weights.

Nothing is downloaded. The tokenizer is a byte-level BPE trained on the sentences below, so every text of every
language has tokens; the weights come from one seeded generator, so every machine builds the same model.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    Gemma3Config,
    Gemma3ForConditionalGeneration,
    Gemma3ImageProcessor,
    Gemma3Processor,
    Gemma3TextConfig,
    PreTrainedTokenizerFast,
    SiglipVisionConfig,
)

from lmms_tasks.utils.home import home

# Raise it whenever anything below changes what is built: the folder's name holds it.
VERSION = "1"
SEED = 20250101

SENTENCES = (
    "The leaf in the first image shows small brown spots with a yellow ring, and the stem is still green.",
    "Which of the images shows a red square on a blue ground? Answer with the number of the image.",
    "The report cites two sources for this claim, and the figure on the left agrees with both of them.",
    "The slice shows no finding in the left part of the image; on the right there is a bright round area.",
    "Is the object larger than the one before? yes no left right red blue green white black true false",
    "A B C D E F G H 0 1 2 3 4 5 6 7 8 9 10 12 20 50 100 ( ) [ ] { } , . ? ! : ; - _ # * / + = < >",
    "叶子上有褐色的斑点，茎还是绿的。图中有几个红色的方块？请用数字回答。",
)
VOCABULARY_SIZE = 768
UNKNOWN, PADDING, BEGIN, END = "<unk>", "<pad>", "<s>", "</s>"
IMAGE_BEGIN, IMAGE_TOKEN, IMAGE_END = "<start_of_image>", "<image_soft_token>", "<end_of_image>"

IMAGE_SIDE = 56  # pixels; the processor resizes every image to a square of this side
PATCH_SIDE = 14  # pixels
TOKENS_PER_IMAGE = 4
HIDDEN_SIZE = 32
# A question of 10,000 Chinese characters has about 30,000 byte-level tokens, and twenty images add 180.
POSITIONS = 131_072

CHAT_TEMPLATE = (
    "{{ bos_token }}"
    "{% for message in messages %}{{ message['role'] }}: "
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}" + IMAGE_BEGIN + "{% elif part['type'] == 'text' %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}{{ eos_token }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def checkpoint() -> Path:
    """Return the folder of the checkpoint, building it if it is not there yet (about a second).

    The folder's name also holds the version of transformers, because one version's files need not load in another.
    The folder appears whole or not at all: two processes that build at once each fill a folder of their own, and
    the first to rename wins.

    Raises:
        SystemExit: lmms-tasks has no folder that it can write to.
    """
    models_folder = home() / "models"
    folder = models_folder / f"tiny_vlm-{VERSION}-transformers-{transformers.__version__}"
    if folder.is_dir():
        return folder
    models_folder.mkdir(mode=0o700, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=".tiny_vlm-", dir=models_folder))
    try:
        _build(building)
        os.rename(building, folder)
    except OSError:
        # Renaming onto a folder with files in it fails: then another process was first, and its files are equal.
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return folder


def _build(folder: Path) -> None:
    tokenizer = _tokenizer()
    processor = Gemma3Processor(
        image_processor=Gemma3ImageProcessor(size={"height": IMAGE_SIDE, "width": IMAGE_SIDE}),
        tokenizer=tokenizer,
        image_seq_length=TOKENS_PER_IMAGE,
        chat_template=CHAT_TEMPLATE,
    )
    model = _model(tokenizer)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)


def _tokenizer() -> PreTrainedTokenizerFast:
    bpe = Tokenizer(models.BPE(unk_token=UNKNOWN))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE,
        special_tokens=[UNKNOWN, PADDING, BEGIN, END, IMAGE_BEGIN, IMAGE_TOKEN, IMAGE_END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(SENTENCES, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        unk_token=UNKNOWN,
        pad_token=PADDING,
        bos_token=BEGIN,
        eos_token=END,
        model_max_length=POSITIONS,
        padding_side="left",  # what is generated must follow the prompt, not its padding
        extra_special_tokens={"boi_token": IMAGE_BEGIN, "image_token": IMAGE_TOKEN, "eoi_token": IMAGE_END},
    )


def _model(tokenizer: PreTrainedTokenizerFast) -> Gemma3ForConditionalGeneration:
    text = Gemma3TextConfig(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN_SIZE,
        intermediate_size=2 * HIDDEN_SIZE,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        query_pre_attn_scalar=8,
        layer_types=["sliding_attention", "full_attention"],
        sliding_window=512,
        max_position_embeddings=POSITIONS,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        tie_word_embeddings=False,
    )
    vision = SiglipVisionConfig(
        hidden_size=HIDDEN_SIZE,
        intermediate_size=2 * HIDDEN_SIZE,
        num_hidden_layers=2,
        num_attention_heads=4,
        image_size=IMAGE_SIDE,
        patch_size=PATCH_SIDE,
    )
    config = Gemma3Config(
        text_config=text,
        vision_config=vision,
        mm_tokens_per_image=TOKENS_PER_IMAGE,
        boi_token_index=tokenizer.convert_tokens_to_ids(IMAGE_BEGIN),
        eoi_token_index=tokenizer.convert_tokens_to_ids(IMAGE_END),
        image_token_index=tokenizer.convert_tokens_to_ids(IMAGE_TOKEN),
        # With one matrix for input and output a random model answers with the prompt's last token, over and over.
        tie_word_embeddings=False,
    )
    with torch.random.fork_rng(devices=[]):  # building must not shift the random numbers of the caller's run
        model = Gemma3ForConditionalGeneration(config)
    _fill(model)
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.suppress_tokens = _illegible(tokenizer)
    model.generation_config.begin_suppress_tokens = [tokenizer.eos_token_id]  # no answer is empty
    return model.to(torch.bfloat16).eval()


def _illegible(tokenizer: PreTrainedTokenizerFast) -> list[int]:
    """Return the tokens that are no text by themselves: special ones, and single bytes of longer characters."""
    specials = set(tokenizer.all_special_ids) - {tokenizer.eos_token_id}
    texts = {token: tokenizer.decode([token]) for token in range(len(tokenizer))}
    return [token for token, text in texts.items() if token in specials or "\ufffd" in text or not text.isprintable()]


def _fill(model: torch.nn.Module) -> None:
    """Draw every matrix anew from one generator, with a spread of 1 / sqrt(inputs) that keeps signals alive.

    Biases become 0: transformers draws some of them from the caller's random numbers.

    The usual initial spread of 0.02 makes a small model repeat one token whatever it is shown. Here an answer
    depends on the question and on the images, so that prompts that were mixed up show in the answers.
    """
    generator = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            if name.endswith("bias"):
                weight.zero_()
            elif weight.dim() > 1:
                weight.copy_(torch.randn(weight.shape, generator=generator) * weight[0].numel() ** -0.5)
