"""The six tasks of the sample twin. Places, numbers and sources are invented; hosts end in the reserved name `.example`."""

from __future__ import annotations

from dataclasses import dataclass

STATISTICS = "https://statistics.lindmouth.example"
HARBOUR = "https://harbour.lindmouth.example"
COURIER = "https://courier.example"


@dataclass(frozen=True)
class SampleTask:
    """One task: number, question, what its image shows (`drawing` names it), and the report that `reference` gives."""

    id: int
    caption: str
    body: str
    drawing: str
    visual_truth: str
    report: str
    language: str = "en"
    difficulty: str = "medium"
    tags: tuple[str, ...] = ("EES",)


GOOD = SampleTask(
    id=0,
    caption="What did the tidal barrage change at Lindmouth?",
    body="The chart shows the yearly output of the tidal barrage at Lindmouth. Explain its course between 2019 and 2024 "
    "and what it meant for the harbour.",
    drawing="output",
    visual_truth="A bar chart of the yearly output of the tidal barrage at Lindmouth from 2019 to 2024 in gigawatt hours: "
    "40, 44, 52, 60, 66, 74. The bars rise every year.",
    report=f"""# Executive Summary

The output of the tidal barrage at Lindmouth rose every year, from 40 gigawatt hours in 2019 to 74 in 2024 [1][901]. The harbour gained calmer water and lost a part of its fishing fleet [2][3].

## Background

The barrage was opened in 2018 with sixteen turbines, after a vote in which 58 percent of the town had been in favour [4]. Before it, the town bought nearly all of its power from the mainland [1].

## Methodology

This report compares the yearly figures of the town's statistical office with the harbour's own records, and reads both against press reports of the same years.

## Analysis & Evidence

Output grew because the turbines were replaced in two steps, in 2020 and in 2022, and the new ones work at a lower head of water [1]. The largest growth, 8 gigawatt hours, came in 2021, in 2022 and again in 2024 [1].

The number of berths in use increased from 210 to 260, since calm water lets smaller boats moor through the winter [2]. In the same years the fishing fleet shrank from 34 to 21 boats, which the harbour master puts down to the longer way through the lock [3].

## Visual Integration

Figure 1: Yearly output of the barrage, 2019 to 2024 [5]
![Figure 1]({STATISTICS}/output.png)

The chart shows six bars that rise every year, from 40 to 74 gigawatt hours [5].

## Conclusion

The barrage keeps what was promised of its power, and it changed who uses the harbour. Whether the fleet would have shrunk without it cannot be told from these sources.

References:
[1] {STATISTICS}/barrage
[2] {HARBOUR}/berths
[3] {COURIER}/fleet
[4] {STATISTICS}/vote
[5] {STATISTICS}/output.png
""",
)

PROSE = SampleTask(
    id=1,
    caption="Is the old lighthouse worth keeping?",
    body="The photograph shows the lighthouse on the northern mole. Weigh the reasons for keeping it against those for "
    "taking it down.",
    drawing="lighthouse",
    visual_truth="A white lighthouse with two red bands and a black lantern, on a stone mole.",
    report="""# Executive Summary

The lighthouse on the northern mole no longer guides anybody, and yet there is much to be said for keeping it. This report weighs what it costs against what it gives, and comes down on the side of keeping it for as long as the mole itself is kept.

## Background

Lighthouses of this kind were built when every harbour had to find its own way of telling ships where the water was deep. A keeper lived beside the light, trimmed the lamp and wrote down the weather. Later the lamp was lit by electricity, the keeper left, and in the end satellites took over what had been the work of the light.

## Methodology

The argument rests on general considerations about monuments, upkeep and the life of a town by the sea. It uses no figures, since none were at hand.

## Analysis & Evidence

Those who would take the tower down point to the cost of paint, scaffolding and insurance. They add that a tower which is no longer needed may become a danger when its stones loosen. Those who would keep it answer that the tower is what people see in their minds when they think of the town, that weddings are held at its foot, and that a walk along the mole needs an end.

Both are right in what they say. The cost is real and returns every few years. The gain is real as well, though nobody can enter it into a ledger. A town that has taken down what made it recognisable has seldom been glad of it.

## Visual Integration

The photograph shows a white tower with two red bands and a black lantern. It stands at the very end of the mole.

## Conclusion

Keep the tower, make one person answerable for it, and look at the question again when the mole is due for repair.
""",
    tags=("HCS",),
)

IMAGES_ONLY = SampleTask(
    id=2,
    caption="How do the three ferries differ?",
    body="The drawing shows the three ferries of the Lindmouth line. Compare them and say which serves the winter timetable.",
    drawing="ferries",
    visual_truth="Side views of three ferries, one above the other: a long grey one, a middle-sized blue one and a short red "
    "one with a tall funnel.",
    report=f"""# Executive Summary

Three ferries serve the Lindmouth line, and the drawing that comes with the question shows how far they differ in size [901]. The short red one has the tallest funnel of the three [901].

## Background

The drawing shows three side views, one above the other, at the same scale [901]. The uppermost ferry is long and grey, the second is of middle length and blue, and the lowest is short and red [901].

## Methodology

Everything in this report is read from images: from the drawing that was given, and from the picture that the harbour has published of its fleet [1].

## Analysis & Evidence

Measured along the waterline, the grey ferry is about twice as long as the red one in the drawing [901]. The blue ferry lies between the two and has a flat roof over its whole deck [901]. The harbour's own picture shows the three hulls in the same order and in the same colours [1].

A short hull turns more easily in a narrow basin, and a closed deck keeps the spray out. For both reasons the picture lets one expect the blue or the red ferry on winter days [1]. The drawing alone does not say which of them it is.

## Visual Integration

Figure 1: The three ferries as the harbour shows them [1]
![Figure 1]({HARBOUR}/ferries.png)

## Conclusion

The ferries differ in length, in colour and in the height of their funnels. Which one sails in winter cannot be read from a picture, and this report does not claim it.

References:
[1] {HARBOUR}/ferries.png
""",
    tags=("XDIS",),
)

DEAD_LINKS = SampleTask(
    id=3,
    caption="How was the market hall rebuilt?",
    body="The plan shows the market hall after its rebuilding. Describe what was changed and what it cost.",
    drawing="plan",
    visual_truth="A floor plan of a hall with a row of six square stalls on the left, a long counter on the right and two "
    "doors at the bottom.",
    report=f"""# Executive Summary

The market hall was rebuilt between 2015 and 2017 for 9.4 million crowns, which was 12 percent more than planned [1][2]. It now has six stalls and one long counter in place of the former twenty trestles [3].

## Background

The old hall of 1902 had a roof of corrugated iron that leaked in every winter, and the fire service had closed its gallery in 2009 [1]. Two plans were put before the council, and the cheaper one was chosen by a single vote [2].

## Methodology

The report follows the minutes of the council and the architect's own account, which were published while the works went on.

## Analysis & Evidence

The roof was replaced by glass and timber, because a lighter roof could rest on the old walls [3]. Heating was left out to save 800 thousand crowns, and the stalls have been heated one by one since then [2]. Sales in the hall were 31 percent higher in 2018 than in 2014, whereas those of the open market fell by 6 percent [4].

The higher cost had two causes. The ground under the eastern wall turned out to be wet, and the price of timber rose while the tender was open [2]. The council paid half of the difference out of its reserve [1].

## Visual Integration

The plan of the hall has six stalls on its left side and one long counter on its right, with two doors at the bottom.

## Conclusion

The hall costs the town more than it was told, and it sells more than before. The open market has paid a part of the price.

References:
[1] {STATISTICS}/minutes/2015
[2] {STATISTICS}/minutes/2017
[3] {COURIER}/market-hall
[4] {STATISTICS}/sales
""",
    tags=("SPS",),
)

INVENTED_LINKS = SampleTask(
    id=100,
    caption="Which bird is this, and when does it leave?",
    body="I saw this bird on the salt marsh in August. Which is it, and when do the last ones leave?",
    drawing="bird",
    visual_truth="A drawing of a wading bird with a long bill that is bent upwards, black and white wings and blue-grey legs: "
    "an avocet.",
    report="""## Summary

The bird is a curlew, and the last curlews leave the salt marsh in the first week of November [1]. About 4,200 of them rest there each August, more than at any other place on this coast [2].

## What the picture shows

The bird in the picture has a long bill and stands in shallow water, as curlews do [901]. Its wings are black and white and its legs are long, so that it can feed further out than gulls can [901].

## When they leave

Curlews come from the north in July and stay until the frost closes the mud to their bills [1]. In mild years some remain through the winter, and in 2021 as many as 310 were counted in January [2]. Ringed birds have been found as far south as the lagoons of the warm coast, which they reach in four nights of flight [3].

The number that rests on the marsh has fallen by 18 percent in ten years, because the mussel beds have become smaller [2]. Wardens have therefore closed the eastern path from July to October [3].

## Conclusion

Come before the end of October if you want to see them in numbers, and come at high water, when they stand close to the dike. Keep to the western path and stay behind the screen.

References:
[1] https://curlew-calendar.invented.example/departure
[2] https://coastal-bird-census.invented.example/report/2024
[3] https://ringing-archive.invented.example/finds
""",
    difficulty="easy",
    tags=("Misc. science",),
)

CHINESE = SampleTask(
    id=101,
    caption="林茅斯的潮汐电站带来了什么？",
    body="图中是林茅斯潮汐电站历年的发电量。请说明2019年至2024年的变化，以及它对港口的影响。",
    drawing="output",
    visual_truth="柱状图，显示林茅斯潮汐电站2019年至2024年的年发电量（吉瓦时）：40、44、52、60、66、74，逐年上升。",
    report=f"""# 摘要

林茅斯潮汐电站的年发电量逐年上升，从2019年的40吉瓦时增加到2024年的74吉瓦时【1】。港口因此得到了更平静的水面，泊位的使用数量由210个增加到260个【2】。与此同时，渔船的数量由34艘减少到21艘【3】。本文依据统计局、港务处和当地报纸的资料，说明发电量变化的原因，并讨论电站对港口各方的影响。

# 背景

电站于2018年建成，共有十六台水轮机。建成之前，全镇几乎所有的电力都要从大陆购买【1】。镇上曾就是否兴建电站举行投票，结果有百分之五十八的居民表示赞成【4】。反对者担心船闸会使渔船出海的路程变长，赞成者则看重稳定而便宜的电力。双方的理由在后来的几年里都得到了一部分印证。

# 方法

本文先列出统计局公布的逐年发电量，再与港务处的泊位记录相互对照，最后参考同一时期的新闻报道。凡是各种资料之间不一致的地方，本文都以统计局的数字为准，并在文中加以说明。没有资料支持的推测一律写明是推测，以免读者把它当成事实。

# 分析与证据

发电量上升的主要原因是水轮机分两次更换，第一次在2020年，第二次在2022年，新的水轮机在较低的水头下也能工作【1】。增幅最大的是2021年、2022年和2024年，这三年各增加了8吉瓦时【1】。如图1所示，六根柱子逐年升高，没有一年下降【5】。

泊位增加的原因在于水面平静。过去每到冬天，小船都要拖上岸，如今它们可以整年停在水里【2】。渔船减少的原因则比较复杂。港务长认为，船闸使每次出海多花近一个小时，这是渔民离开的主要原因【3】。不过渔船的减少在电站建成之前就已经开始，因此不能把全部责任都归于电站。这一点报纸上没有说明，属于本文的推测。

从用电的角度看，镇上的居民得到了好处。从捕鱼的角度看，一部分家庭失去了生计。镇议会应当公布船闸的等候时间，并考虑在清晨让渔船优先通过。这样的安排花费不多，却能照顾到受影响最大的人。

# 图表

图1：林茅斯潮汐电站历年发电量【5】
![图1]({STATISTICS}/output.png)

图1的纵轴是年发电量，横轴是年份，由此可以看出六年间的增长是持续的【5】。

# 结论

潮汐电站实现了关于电力的承诺，同时改变了港口的使用者。游艇和小船从中受益，渔船则付出了代价。如果没有电站，渔船是否也会减少，现有的资料还不足以回答。今后的研究可以比较邻近没有电站的港口，看看那里的渔船在同一时期有没有减少。对于想要修建类似电站的城镇，林茅斯的经验是：在动工之前就要与渔民商量船闸的开放时间，并且把商量的结果写进合同。还应当在开工之前连续几年记录渔船、游艇和小船的数量，这样日后才能把电站的影响与其他原因分开。统计局已经答应把泊位和渔船的数字并入每年的报告，报纸也表示会继续关注船闸前的等候时间。只要这些数字能够按时公布，几年之后就可以对这座电站作出更公正的评价。

参考文献：
[1] {STATISTICS}/barrage
[2] {HARBOUR}/berths
[3] {COURIER}/fleet
[4] {STATISTICS}/vote
[5] {STATISTICS}/output.png
""",
    language="zh",
    difficulty="hard",
    tags=("Current events",),
)

TASKS = (GOOD, PROSE, IMAGES_ONLY, DEAD_LINKS, INVENTED_LINKS, CHINESE)
