"""Identification rows: three categories, one paragraph of clues and a name as gold answer."""

from __future__ import annotations

from lmms_tasks.mirage.samples.row import Row, picture, prose

INSTRUCTION = prose("""
    Study the attached pictures and, in a single paragraph, first describe the visible clues that settle the question
    and then state what it is (clues, then identification).
""")
INSTRUCTION_ZH = "请仔细观察所附图片，用一段话先描述能够说明问题的特征，再给出鉴定结果（特征，然后结果）。"

PLANT = "Plant Identification"
INSECT = "Insect and Pest Identification"
DISEASE = "Plant Disease Identification"

ROWS = [
    Row(
        id="#s0001",
        category=PLANT,
        instruction=INSTRUCTION,
        question=prose("""
            This came up between my onion rows in the hottest weeks of July and it shrugs off drought. The stems are
            reddish and lie flat on the ground. My neighbour says it is edible. What is it?
        """),
        answer=prose("""
            The pictures show a mat of smooth, fleshy, reddish stems that radiate from one taproot and lie on the
            soil. The leaves are thick, paddle-shaped and hairless, and crowd together at the tips, where small
            five-petalled yellow flowers sit directly among them. Succulent stems that hold no milky sap separate it
            from the prostrate spurges that grow in the same places. Low growth, swollen leaves and yellow flowers in
            midsummer heat all point the same way, so the plant is identified as common purslane (Portulaca oleracea).
        """),
        entity_type="plant",
        entity_name="common purslane",
        scientific_name="Portulaca oleracea",
        common_names=["little hogweed", "pursley"],
        state="Kansas",
        county="Riley County",
        asked_time="2019-07-18 09:12:44",
        pictures=[
            picture("mat", stem=(168, 74, 62), leaf=(86, 140, 66), flower=(246, 206, 52)),
            picture("sprig", shape="paddle", leaf=(96, 150, 72), stem=(176, 82, 66), flower=(248, 210, 60), petals=5),
        ],
    ),
    Row(
        id="#s0002",
        category=PLANT,
        instruction=INSTRUCTION,
        question=prose("""
            We found this in the wet corner of our maple woods in May. It has a sort of striped hood over a club and
            only two sets of leaves. Can you tell me its name?
        """),
        answer=prose("""
            Each leaf is divided into three broad, pointed leaflets, and beneath the leaves stands a single flower
            stalk. On it a green tube with darker purplish stripes folds forward at the top into a pointed hood that
            covers an upright, rounded club. This hood and club, called spathe and spadix, are typical of the arum
            family, and three leaflets on moist woodland soil in spring leave only one likely candidate.
            Identification: jack-in-the-pulpit (Arisaema triphyllum).
        """),
        entity_type="plant",
        entity_name="jack-in-the-pulpit",
        scientific_name="Arisaema triphyllum",
        common_names=["indian turnip"],
        state="Vermont",
        county="Windsor County",
        asked_time="2021-05-16 14:03:10",
        pictures=[picture("hooded_flower", hood=(112, 150, 70), stripe=(92, 44, 64), leaf=(74, 134, 62))],
    ),
    Row(
        id="#s0003",
        category=PLANT,
        instruction=INSTRUCTION,
        question=prose("""
            I keep pulling this from my flower pots. It looks like a clover, but the blossoms are yellow and the
            little pods shoot seeds at me when I touch them. What have I got?
        """),
        answer=prose("""
            The leaves consist of three leaflets, each notched at the tip so that it forms a clear heart, and they
            fold along the middle. True clovers have oval leaflets without that deep notch. The flowers are small and
            yellow with five separate petals, and the narrow capsules stand upright like tiny candles; they burst and
            throw their seeds when ripe, which matches what you felt. Heart-shaped leaflets, yellow petals and upright
            capsules together lead to this conclusion: yellow woodsorrel (Oxalis stricta).
        """),
        entity_type="plant",
        entity_name="yellow woodsorrel",
        scientific_name="Oxalis stricta L., 1753",
        common_names=["lemon clover", "sourgrass"],
        state="Maryland",
        county="Howard County",
        asked_time="2020-06-09 18:40:21",
        pictures=[
            picture("trefoil", leaf=(112, 168, 78), notch=True),
            picture("flower", petals=5, petal=(250, 220, 60), centre=(198, 178, 52), back="foliage"),
            picture("pods", pod=(120, 160, 80)),
        ],
    ),
    Row(
        id="#s0004",
        category=PLANT,
        instruction=INSTRUCTION_ZH,
        question="玉米地里长出这种高大的草，叶子摸起来像绒布，开小黄花，果实像个带齿的小磨盘。请问这是什么植物？",
        answer=(
            "从图片看，植株直立高大，叶片互生，呈宽大的心形，先端渐尖，表面密生柔软的短毛，所以手感如绒布；"
            "叶腋处开黄色小花，花瓣五枚；果实由十余个带尖喙的分果瓣排成一圈，形似磨盘。"
            "心形绒毛叶、黄色五瓣花和磨盘状果实同时出现，是锦葵科这种农田杂草的典型特征。鉴定结果：苘麻。"
        ),
        entity_type="plant",
        entity_name="velvetleaf",
        scientific_name="Abutilon theophrasti",
        common_names=["苘麻", "buttonweed"],
        state="Illinois",
        county="Champaign County",
        asked_time="2022-08-03 08:25:00",
        pictures=[
            picture("leaf", shape="heart", leaf=(120, 160, 92), back="soil"),
            picture("sprig", shape="heart", leaf=(112, 152, 86), stem=(128, 150, 96), flower=(244, 196, 62), petals=5),
        ],
    ),
    Row(
        id="#s0005",
        category=PLANT,
        instruction=INSTRUCTION,
        question=prose("""
            A tree on our street drops all of its leaves within a day or two each fall, and they are bright yellow and
            shaped like little fans. Which tree is this?
        """),
        answer=prose("""
            The leaf is a flat fan on a long stalk, golden yellow, with a wavy outer edge and a slit in the middle
            that divides it into two lobes. There is no midrib: the fine veins start at the stalk and fork again and
            again until they reach the margin. No other street tree of temperate regions carries a fan with forked
            veins, and the sudden leaf drop in autumn fits as well. The tree is a ginkgo (Ginkgo biloba).
        """),
        entity_type="plant",
        entity_name="ginkgo",
        scientific_name="Ginkgo biloba",
        common_names=["maidenhair tree"],
        state="Ohio",
        county="Franklin County",
        asked_time="2018-11-02 11:30:05",
        pictures=[picture("leaf", shape="fan", leaf=(232, 190, 58), back="table")],
    ),
    Row(
        id="#s0006",
        category=INSECT,
        instruction=INSTRUCTION,
        question=prose("""
            Something has stripped the tops of my potato plants. I found striped beetles, soft reddish grubs and
            patches of orange eggs under the leaves. Are they all the same thing?
        """),
        answer=prose("""
            All three stages belong to one insect. The adult is a domed, rounded beetle with five black lines on each
            cream-yellow wing cover and a spotted orange shield behind the head. The larvae are plump and brick-red
            with two rows of black dots along each side, and the eggs stand upright in yellow-orange clusters on the
            underside of the leaf. The host, potato, and leaves that are eaten down to the veins agree with this. The
            pest is identified as Colorado potato beetle (Leptinotarsa decemlineata).
        """),
        entity_type="insect/pest",
        entity_name="colorado potato beetle",
        scientific_name="Leptinotarsa decemlineata (Say, 1824)",
        common_names=["ten-lined potato beetle"],
        state="Maine",
        county="Aroostook County",
        asked_time="2020-07-01 16:55:32",
        pictures=[
            picture("beetle", shell=(238, 206, 112), pattern="stripes", mark=(34, 28, 26), head=(214, 130, 52)),
            picture("grubs", body=(186, 74, 52), dots=(30, 24, 24), leaf=(78, 132, 64)),
            picture("eggs", egg=(240, 158, 44), leaf=(104, 150, 82)),
        ],
    ),
    Row(
        id="#s0007",
        category=INSECT,
        instruction=INSTRUCTION,
        question=prose("""
            This giant green worm ate half of a tomato plant overnight. It has slanted white lines on its sides and a
            red spike at the back. What will it turn into?
        """),
        answer=prose("""
            The caterpillar is as thick as a finger and leaf-green, with seven slanted white lines on each side and a
            curved horn at the rear. Two details matter: the lines are simple diagonals edged with black instead of
            V-shaped marks, and the horn is red, which separates it from the tomato hornworm with its dark horn. It
            feeds on tomato and its relatives and later becomes a large grey sphinx moth. Final answer: tobacco
            hornworm (Manduca sexta).
        """),
        entity_type="insect/pest",
        entity_name="tobacco hornworm",
        scientific_name="Manduca sexta",
        common_names=["carolina sphinx"],
        state="Tennessee",
        county="Knox County",
        asked_time="2017-08-11 07:48:19",
        pictures=[
            picture("caterpillar", body=(112, 168, 64), slashes=(240, 242, 232), horn=(200, 48, 40)),
            picture("sprig", shape="compound", leaf=(78, 130, 60), stem=(104, 138, 74), eaten=True),
        ],
    ),
    Row(
        id="#s0008",
        category=INSECT,
        instruction=INSTRUCTION,
        question=prose("""
            These shield-shaped bugs crawl up our window frames every October and smell awful when squashed. What are
            they called?
        """),
        answer=prose("""
            The insect has the broad, shield-like outline of the stink bug family and a mottled grey-brown back. Each
            dark antenna carries pale bands, and along the edge of the abdomen light and dark patches alternate where
            it shows beyond the wings. The shoulders are smooth and rounded, without teeth, which separates it from
            native brown stink bugs. Adults that gather on house walls in autumn to overwinter complete the picture.
            It is the brown marmorated stink bug (Halyomorpha halys).
        """),
        entity_type="insect/pest",
        entity_name="brown marmorated stink bug",
        scientific_name="Halyomorpha halys",
        common_names=[],
        state="Pennsylvania",
        county="Lehigh County",
        asked_time="2016-10-14 20:10:57",
        pictures=[picture("shield_bug", shell=(134, 112, 86), band=(226, 212, 184), back="wood")],
    ),
    Row(
        id="#s0009",
        category=INSECT,
        instruction=INSTRUCTION,
        question=prose("""
            My butterfly weed is covered with tiny bright yellow dots with black legs, and the stems feel sticky. What
            insect is this?
        """),
        answer=prose("""
            Dense groups of soft, pear-shaped insects crowd on the young stem and beneath the leaves. Their bodies are
            uniformly bright yellow while the legs, antennae and the two tail tubes are black, a contrast that few
            other species show. The sticky film is honeydew, the sugary waste of sap feeders. A milkweed as host
            settles it, since this species lives nearly exclusively on milkweeds and oleander. The colony is
            identified as oleander aphid (Aphis nerii).
        """),
        entity_type="insect/pest",
        entity_name="oleander aphid",
        scientific_name="Aphis nerii",
        common_names=["milkweed aphid"],
        state="Texas",
        county="Travis County",
        asked_time="2019-09-22 13:21:08",
        pictures=[
            picture("aphids", body=(244, 200, 44), legs=(30, 26, 24), on="stem", count=26),
            picture("aphids", body=(246, 206, 56), legs=(36, 30, 26), on="leaf", count=15),
        ],
    ),
    Row(
        id="#s0010",
        category=INSECT,
        instruction=INSTRUCTION,
        question=prose("""
            I see plenty of these red beetles on my broad beans. Should I be worried, and which species is it?
        """),
        answer=prose("""
            The beetle is strongly domed and almost hemispherical, with shiny orange-red wing covers. Each cover bears
            three black spots, and a further one is shared across the seam just behind the shield, which makes an odd
            total. The thorax is black with one pale patch at each front corner. Both adults and larvae eat aphids, so
            this visitor helps you. Conclusion: seven-spotted lady beetle (Coccinella septempunctata).
        """),
        entity_type="insect/pest",
        entity_name="seven-spotted lady beetle",
        scientific_name="Coccinella septempunctata",
        common_names=["seven-spot ladybird", "c-7"],
        state="Colorado",
        county="Larimer County",
        asked_time="2021-06-27 10:02:36",
        pictures=[picture("beetle", shell=(208, 50, 34), pattern="seven", mark=(24, 20, 20), head=(26, 24, 24))],
    ),
    Row(
        id="#s0011",
        category=DISEASE,
        instruction=INSTRUCTION,
        question=prose("""
            The lowest leaves on my tomatoes get brown spots with rings, then turn yellow and dry up. It moves upward
            week by week. What disease is it?
        """),
        answer=prose("""
            Large brown lesions stand on the older leaves, and inside each one dark concentric rings form a
            bull's-eye. The tissue around the lesions is yellow, and several of them have merged and dried. Damage
            that begins on the lowest leaves and climbs is typical, because spores splash up from the soil; Septoria
            leaf spot would give many small spots with grey centres and black specks. The disease is identified as
            early blight (Alternaria solani).
        """),
        entity_type="plant disease",
        entity_name="early blight",
        scientific_name="Alternaria solani",
        common_names=["alternaria blight"],
        state="Georgia",
        county="Clarke County",
        asked_time="2018-06-20 17:15:49",
        pictures=[
            picture(
                "leaf",
                shape="ovate",
                toothed=True,
                leaf=(112, 146, 62),
                mark="rings",
                spot=(112, 76, 44),
                count=6,
                size=0.085,
                halo=(214, 196, 72),
            ),
            picture(
                "leaf",
                shape="ovate",
                toothed=True,
                leaf=(190, 178, 70),
                mark="rings",
                spot=(98, 66, 40),
                count=9,
                size=0.07,
                halo=(222, 206, 96),
                back="soil",
            ),
        ],
    ),
    Row(
        id="#s0012",
        category=DISEASE,
        instruction=INSTRUCTION,
        question=prose("""
            My crab apple has orange spots on the leaves, and there are odd little tubes beneath them. The juniper by
            the gate grew jelly horns in spring. Is this related?
        """),
        answer=prose("""
            The upper leaf surface carries bright yellow-orange spots with a red border and minute dark dots in the
            middle. Below each spot a tuft of short, pale tubes sticks out; these release spores in late summer. The
            third picture shows a brown, woody gall on juniper from which orange, jelly-like horns grow in wet spring
            weather. One fungus needs both hosts in turn, so the two are indeed related, and the disease is identified
            as cedar-apple rust (Gymnosporangium juniperi-virginianae).
        """),
        entity_type="plant disease",
        entity_name="cedar-apple rust",
        scientific_name="Gymnosporangium juniperi-virginianae",
        common_names=[],
        state="Missouri",
        county="Boone County",
        asked_time="2020-08-05 12:33:27",
        pictures=[
            picture(
                "leaf",
                shape="ovate",
                leaf=(76, 130, 58),
                mark="rings",
                spot=(236, 148, 38),
                count=7,
                size=0.06,
                halo=(190, 56, 40),
                rings=1,
            ),
            picture("leaf", shape="ovate", leaf=(140, 168, 108), mark="tubes", spot=(222, 196, 150), count=6),
            picture("gall", horn=(232, 126, 34), gall=(110, 66, 44)),
        ],
    ),
    Row(
        id="#s0013",
        category=DISEASE,
        instruction=INSTRUCTION,
        question=prose("""
            When I peeled my sweet corn I found swollen grey lumps where kernels should be, and some were filled with
            a black powder. What happened?
        """),
        answer=prose("""
            Single kernels on the ear are replaced by swollen, smooth galls with a silvery white to grey skin; where
            the skin has torn, a mass of dark, powdery spores appears. Insects or ear moulds leave the kernels near
            their normal size, whereas here the fungus makes host cells grow into tumours, which often follows injury
            or drought at silking. Conclusion: corn smut (Ustilago maydis), which is eaten as a delicacy while the
            galls are young and firm.
        """),
        entity_type="plant disease",
        entity_name="corn smut",
        scientific_name="Ustilago maydis",
        common_names=["boil smut", "huitlacoche"],
        state="Nebraska",
        county="Lancaster County",
        asked_time="2017-08-26 15:44:00",
        pictures=[picture("maize_ear", kernel=(240, 208, 92), gall=(166, 166, 172), husk=(126, 164, 84))],
    ),
    Row(
        id="#s0014",
        category=DISEASE,
        instruction=INSTRUCTION,
        question=prose("""
            My first tomatoes have a black leathery patch on the bottom while the leaves look perfectly healthy. Which
            disease is this?
        """),
        answer=prose("""
            The patch sits on the underside of the fruit, exactly opposite the stem; it is sunken, leathery, dark
            brown to black, with a sharp border, and the rest of the fruit ripens normally. There is no mould growth,
            no ring pattern and no leaf damage, and the earliest fruits suffer most. This speaks for a lack of calcium
            in the growing fruit, caused by an uneven water supply, and no germ is involved. The disorder shown here
            is blossom-end rot.
        """),
        entity_type="plant disease",
        entity_name="blossom-end rot",
        scientific_name="",
        common_names=[],
        state="California",
        county="Sonoma County",
        asked_time="2022-07-12 19:20:00",
        pictures=[
            picture("fruit", skin=(206, 62, 40), blemish="end_rot", calyx=True),
            picture("fruit", skin=(182, 176, 72), blemish="end_rot", calyx=True, back="soil", number=2),
        ],
    ),
]
