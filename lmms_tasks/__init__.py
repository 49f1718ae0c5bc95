"""Four benchmark families for lmms-eval: MIRAGE (agriculture), AMIGO, MMDeepResearch-Bench and SGMRI-VQA."""

__version__ = "0.1.0"
