"""The report of which the expected text features and pairs are known (dossier, 9b; synthetic.json)."""

SOLAR = """# Executive Summary

Solar output rose 12% in 2024 because panel prices fell sharply across Europe [1][2]. It's cheap.

## Analysis & Evidence

Figure 1: Growth of capacity [3]
![Figure 1](https://img.example.org/growth.png)

The chart shows a steady increase from 2019 to 2024 [3].

## Conclusion

结论：成本下降。

References:
[1] https://www.iea.org/reports/solar
[2] https://reddit.com/r/solar
[3] https://img.example.org/growth.png
"""
