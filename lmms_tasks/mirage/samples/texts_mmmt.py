"""Dialogues: what users and experts say, where a model has to go on, and what is known and missing there."""

from __future__ import annotations

from lmms_tasks.mirage.samples.dialogue_row import CLARIFY, RESPOND, Conversation, Cut
from lmms_tasks.mirage.samples.row import picture, prose


def user(text: str) -> tuple[str, str]:
    """A turn of the user, in one paragraph."""
    return "user", prose(text)


def expert(text: str) -> tuple[str, str]:
    """A turn of the expert, in one paragraph."""
    return "expert", prose(text)


CONVERSATIONS = [
    Conversation(
        id="#s0101",
        speeches=[
            user("The leaves of my tomatoes are going yellow and I am losing more every day. What should I spray?"),
            expert("Before you spray: where on the plant did it begin, and are there spots on the yellow leaves?"),
            user("""
                At the bottom, then upward. There are brown spots with rings like a target, about as wide as a pencil.
                It has rained nearly every day for two weeks, and I water from above besides.
            """),
        ],
        cuts=[
            Cut(
                1,
                CLARIFY,
                "On which leaves did the yellowing begin, and do the yellow leaves have spots on them?",
                ["plant: tomato", "sign: yellow leaves", "course: getting worse each day"],
                ["where on the plant it began", "spots on the leaves", "watering and weather"],
            ),
            Cut(
                3,
                RESPOND,
                prose("""
                    Ringed spots that climb from the lowest leaves are early blight. Take off the spotted leaves and put
                    them in the bin, water at the foot of the plants, mulch the soil so that rain does not splash spores
                    up, and thin the plants for air. If new spots keep appearing, protect the healthy leaves with a copper
                    product that is labelled for tomatoes.
                """),
                [
                    "plant: tomato",
                    "sign: yellow leaves with brown ringed spots",
                    "course: from the bottom upward",
                    "weather: rain nearly every day for two weeks",
                    "watering: from above",
                ],
            ),
        ],
        pictures=[
            picture(
                "sprig", shape="compound", leaf=(172, 170, 74), stem=(112, 140, 78), spotted=(108, 76, 46), back="soil"
            ),
            picture("leaf", shape="ovate", toothed=True, leaf=(186, 178, 76), mark="rings", spot=(104, 70, 44)),
        ],
    ),
    Conversation(
        id="#s0102",
        speeches=[
            user("There is a brown patch in our front lawn. How do I get rid of it?"),
            expert("Does the turf lift like a rug where it is brown, and how big is the patch?"),
            user("It is as long as my car by now, and it began at the driveway. I have not pulled at it."),
            expert("Please pull at the edge of the patch, and dig a square as wide as your hand, three fingers deep."),
            user("""
                It came up with no roots at all. In the square I found nine fat white grubs, curled like a C. We have late
                August here.
            """),
        ],
        cuts=[
            Cut(
                1,
                CLARIFY,
                "How large is the patch, and does the brown turf come up without roots if you pull at it?",
                ["place: front lawn", "sign: a brown patch"],
                ["size of the patch", "whether the turf lifts", "grass species", "watering"],
            ),
            Cut(
                3,
                CLARIFY,
                "Would you pull at the edge of the patch, and dig up a small square there to look for grubs?",
                ["place: front lawn, beginning at the driveway", "sign: a brown patch", "size: as long as a car"],
                ["whether the turf lifts", "grubs in the soil"],
            ),
            Cut(
                5,
                RESPOND,
                prose("""
                    These are white grubs, and nine in a square that small are enough to kill turf. In late August they are
                    young and near the surface: water in a curative product or parasitic nematodes now, in the evening, and
                    keep the soil moist for a week. Rake out the dead turf and reseed in September.
                """),
                [
                    "place: front lawn, beginning at the driveway",
                    "sign: a brown patch whose turf has no roots",
                    "size: as long as a car",
                    "pest: nine white C-shaped grubs in a square as wide as a hand",
                    "season: late August",
                ],
            ),
        ],
        pictures=[picture("lawn", blade=(104, 140, 74), patch=(176, 150, 96))],
    ),
    Conversation(
        id="#s0103",
        speeches=[
            user("""
                Each spring the young leaves of my peach tree thicken, curl and turn red, then drop in June. The tree grows
                a second set and carries little fruit. I saw it last month again. I would like to know what to do before
                next spring; I have a sprayer, and I do not mind copper.
            """),
            expert("""
                That is peach leaf curl, a fungus that winters on the twigs. Spray copper once in late autumn after the
                leaves are down, and once more before the buds swell.
            """),
            user("When do the buds swell? And do I have to pick up the fallen leaves?"),
        ],
        cuts=[
            Cut(
                1,
                RESPOND,
                prose("""
                    What you describe is peach leaf curl, a fungus that spends the winter on twigs and buds. Once the leaves
                    curl it is too late for this year. Spray a copper product that is labelled for peaches after the leaves
                    have dropped, and again before the buds swell, and wet every twig. Thin the fruit and water well in June
                    to spare the tree.
                """),
                [
                    "plant: peach tree",
                    "sign: young leaves thick, curled and red, then dropping in June",
                    "course: each spring, with a second set of leaves and little fruit",
                    "means: has a sprayer and accepts copper",
                    "wish: to act before next spring",
                ],
            ),
            Cut(
                3,
                RESPOND,
                prose("""
                    Buds swell when they grow round and show a paler edge, some three weeks before bloom; in most places that
                    is late winter, so look each week from January on. The fallen leaves matter little for this fungus, since
                    it winters on the twigs. Picking them up does no harm.
                """),
                [
                    "plant: peach tree",
                    "disease: peach leaf curl",
                    "treatment: copper after leaf fall and before bud swell",
                    "question: when buds swell, and whether to pick up leaves",
                ],
                ["where the tree grows"],
            ),
        ],
        pictures=[picture("leaf", shape="lanceolate", leaf=(134, 160, 84), mark="curl", spot=(190, 70, 66))],
    ),
    Conversation(
        id="#s0104",
        speeches=[
            user("My jade plant drops leaves. Help!"),
            expert("How often do you water it, and does its pot have a hole?"),
            user("Once a week, all year."),
            user("I have looked: there is no hole. The lower stem feels soft."),
        ],
        cuts=[
            Cut(
                1,
                CLARIFY,
                "How often do you water the plant, and can water run out of its pot?",
                ["plant: jade plant", "sign: drops leaves"],
                ["watering", "drainage of the pot", "light", "state of stem and roots"],
            ),
            Cut(
                4,
                RESPOND,
                prose("""
                    Weekly water in a pot without a hole has rotted the roots, and the soft stem shows that it is climbing.
                    Cut healthy tips above the soft part, let the cuts dry for three days, and root them in dry cactus mix in
                    a pot with a hole. Water when the mix is dry to the bottom. Throw the rotten part away.
                """),
                [
                    "plant: jade plant",
                    "sign: drops leaves, lower stem soft",
                    "watering: once a week, all year",
                    "pot: without a hole",
                ],
            ),
        ],
        pictures=[picture("potted", leaf=(110, 146, 86), pot=(150, 104, 82), kind="succulent")],
    ),
    Conversation(
        id="#s0105",
        speeches=[
            user("""
                Two of my zucchini wilted overnight although the soil is moist. At the foot of each stem there is a hole with
                something like wet sawdust around it. A third plant still stands and has a small hole too. It is early July
                in Ohio. Can I save the third one, and how do I keep it from happening next year?
            """),
        ],
        cuts=[
            Cut(
                1,
                RESPOND,
                prose("""
                    Squash vine borers are in the stems. On the standing plant, slit the stem lengthwise above the hole, take
                    out the white caterpillar, close the slit and heap moist soil over it so that it roots anew. Remove the
                    wilted plants. Next year cover the plants with netting until they flower, plant a second batch in early
                    July, and do not grow squash in the same bed.
                """),
                [
                    "plant: zucchini, three of them",
                    "sign: two wilted overnight in moist soil",
                    "sign at the stem: hole with wet sawdust",
                    "place and time: Ohio, early July",
                    "wish: save the third plant and prevent it next year",
                ],
            ),
        ],
        pictures=[
            picture("stem_hole", stem=(122, 156, 84), frass=(204, 168, 96)),
            picture("leaf", shape="palmate", leaf=(112, 148, 80), mark="blotch", spot=(150, 132, 80), count=4),
        ],
    ),
    Conversation(
        id="#s0106",
        speeches=[
            user("Something is wrong with the bark of our ash tree, see the picture. Is it dying?"),
            user("I forgot to say: the neighbour's tree was taken down last winter, <personal data hidden> told me."),
        ],
        cuts=[
            Cut(
                1,
                CLARIFY,
                "How much of the crown has lost its leaves this summer?",
                ["plant: ash tree", "sign: something on the bark"],
                ["state of the crown", "location", "size of the tree"],
            ),
            Cut(
                2,
                CLARIFY,
                "How much of your tree's crown is bare, and in which county do you live?",
                ["plant: ash tree", "sign: something on the bark", "surroundings: a neighbour's tree was taken down"],
                ["state of the crown", "location", "why the neighbour's tree was taken down"],
            ),
        ],
        pictures=[picture("trunk", bark=(134, 122, 108), mark="d_holes")],
    ),
    Conversation(
        id="#s0107",
        speeches=[
            user("The new leaves of my blueberries are yellow, the veins stay green."),
            expert("That looks like a lack of iron. What is the pH of the soil, and what do you feed?"),
            user("I never had it tested. I gave them wood ash in March, as for my roses."),
            expert("Wood ash raises the pH. Please have the soil tested; blueberries want 4.5 to 5.2."),
            user("The test says 6.6. The bushes are two years old, and I could still dig them up."),
        ],
        cuts=[
            Cut(
                3,
                CLARIFY,
                "Could you have the pH of the soil tested, since ash raises it and blueberries need 4.5 to 5.2?",
                [
                    "plant: blueberries",
                    "sign: new leaves yellow with green veins",
                    "feeding: wood ash in March",
                ],
                ["pH of the soil", "age of the bushes"],
            ),
            Cut(
                5,
                RESPOND,
                prose("""
                    At pH 6.6 blueberries cannot take up iron, and sulfur would need years to bring that down. As the bushes
                    are young, dig them up in autumn and plant them into a raised bed or large tubs with peat-free acid mix and
                    pine bark. No ash, no lime; feed ammonium sulfate in spring. Iron chelate on the leaves helps until then.
                """),
                [
                    "plant: blueberries, two years old",
                    "sign: new leaves yellow with green veins",
                    "feeding: wood ash in March",
                    "soil test: pH 6.6",
                    "wish: would dig them up if needed",
                ],
            ),
        ],
        pictures=[picture("leaf", shape="ovate", leaf=(218, 208, 86), mark="chlorosis", spot=(70, 126, 56))],
    ),
    Conversation(
        id="#s0108",
        speeches=[
            (
                "user",
                "大棚里的黄瓜，叶片正面长了一层白粉，擦得掉，老叶先有。棚里白天热，晚上潮，两周没打过药。下周要开始采收，现在该怎么办？",
            ),
        ],
        cuts=[
            Cut(
                1,
                RESPOND,
                "这是白粉病。先摘除病重的老叶，带出棚外处理；白天多通风，傍晚前不浇水，降低夜间湿度。"
                "采收临近，选用安全间隔期短的药剂，例如硫制剂或碳酸氢钾，按标签用量喷叶片两面，隔七天再喷一次，采收前留足间隔期。",
                [
                    "作物: 大棚黄瓜",
                    "症状: 叶片正面有可擦掉的白粉，老叶先发病",
                    "环境: 白天热，晚上潮",
                    "用药: 两周没打过药",
                    "时间: 下周开始采收",
                ],
            ),
        ],
        pictures=[picture("leaf", shape="palmate", leaf=(96, 146, 76), mark="mildew", spot=(236, 236, 228))],
    ),
    Conversation(
        id="#s0109",
        speeches=[
            (
                "user",
                "Some ears of my sweet corn carry swollen grey lumps full of black powder.\n"
                "Three questions:\n1. Is it dangerous to us?\n2. May I compost the stalks?\n3. Can I plant corn there again?",
            ),
        ],
        cuts=[
            Cut(
                1,
                RESPOND,
                prose("""
                    The lumps are common smut, a fungus. It is not poisonous, and the healthy ears can be eaten. Cut the lumps
                    off before they burst and put them in the bin, not on the compost, where the spores survive. Plant
                    something else there for three years and choose a tolerant variety afterwards.
                """),
                [
                    "plant: sweet corn",
                    "sign: swollen grey lumps full of black powder on some ears",
                    "questions: danger to people, compost, corn in the same place",
                ],
            ),
        ],
        pictures=[picture("maize_ear", kernel=(240, 208, 92), gall=(162, 164, 168), husk=(122, 162, 84))],
    ),
    Conversation(
        id="#s0110",
        speeches=[
            user("""
                My milkweed is covered with bright yellow insects with black legs. I grow it for monarchs, and there are two
                striped caterpillars on it. How can I get rid of the yellow ones without harming the caterpillars?
            """),
        ],
        cuts=[
            Cut(
                1,
                RESPOND,
                prose("""
                    The yellow insects are oleander aphids. Move the two caterpillars to a clean stem, then rinse the aphids
                    off with a hard jet of water, every third day for two weeks. Use no insecticide and no soap while
                    caterpillars or eggs are on the plant. Lady beetles will do the rest.
                """),
                [
                    "plant: milkweed, grown for monarchs",
                    "pest: bright yellow insects with black legs",
                    "animals to spare: two striped caterpillars",
                ],
            ),
        ],
        pictures=[
            picture("aphids", body=(244, 200, 44), legs=(30, 26, 24), on="stem", count=60),
            picture("caterpillar", body=(226, 226, 150), stripe=(40, 40, 40)),
        ],
    ),
    Conversation(
        id="#s0111",
        speeches=[
            user("My apples look ugly. What is it?"),
            expert("Are the marks rough and corky, and do the leaves have them too?"),
            user("Yes, dark corky marks, and olive spots on the leaves since May. The tree is old and very dense."),
            expert("That is apple scab. Prune for light in winter and rake up the leaves in autumn."),
            user("Will the apples keep?"),
            user("And which sort would you plant in its place, if I give up? I have clay and full sun."),
        ],
        cuts=[
            Cut(
                1,
                CLARIFY,
                "What do the marks look like and feel like, and do the leaves have spots as well?",
                ["plant: apple tree", "sign: ugly fruit"],
                ["look and feel of the marks", "spots on the leaves", "when it began", "state of the tree"],
            ),
            Cut(
                3,
                RESPOND,
                prose("""
                    This is apple scab, a fungus that winters on fallen leaves and infects in wet springs. Rake up the leaves
                    in autumn, and open the crown by pruning in late winter, so that leaves dry quickly. If you want clean
                    fruit, sprays have to begin when the buds break. Scabby apples can be eaten.
                """),
                [
                    "plant: old, dense apple tree",
                    "sign on the fruit: dark corky marks",
                    "sign on the leaves: olive spots since May",
                ],
            ),
            Cut(
                6,
                RESPOND,
                prose("""
                    Scabby apples keep badly, as they dry out and rot through the cracks: use them by November. In the place of
                    the tree I would plant a scab-resistant sort such as 'Liberty' or 'Enterprise', on a rootstock that bears
                    clay, a few steps from the old stump.
                """),
                [
                    "plant: old, dense apple tree",
                    "disease: apple scab",
                    "place: clay and full sun",
                    "questions: whether the apples keep, which sort to plant instead",
                ],
            ),
        ],
        pictures=[
            picture("fruit", skin=(168, 176, 70), blemish="scab", stalk=True, number=2, back="wood"),
            picture("leaf", shape="ovate", toothed=True, leaf=(98, 138, 70), mark="blotch", spot=(84, 84, 44)),
            picture("bare_tree", bark=(112, 94, 80), buds=(150, 120, 110)),
        ],
    ),
    Conversation(
        id="#s0112",
        speeches=[
            user("What is this grass in my vegetable bed, and how do I kill it?"),
            expert("Is its stem round or has it three edges, and are there nutlets on the roots?"),
            user("Three edges, and small brown nutlets on threads. I grow carrots there and do not want to spray."),
        ],
        cuts=[
            Cut(
                1,
                CLARIFY,
                "Has the stem three edges if you roll it between your fingers, and are there nutlets on the roots?",
                ["place: vegetable bed", "plant: looks like a grass"],
                ["shape of the stem", "nutlets on the roots", "crop in the bed", "whether spraying is welcome"],
            ),
            Cut(
                3,
                RESPOND,
                prose("""
                    It is yellow nutsedge. Dig each plant out with a fork, nutlets and all, before it has six leaves, and come
                    back every two weeks: each time the nutlets spend their stores. Let the bed drain well, and grow a dense
                    crop such as sweet potato there next year, as sedge cannot stand shade.
                """),
                [
                    "place: vegetable bed with carrots",
                    "plant: stem with three edges, brown nutlets on threads",
                    "limit: does not want to spray",
                ],
            ),
        ],
        pictures=[
            picture("grass", blade=(168, 190, 70), head="umbel", spread=0.55),
            picture("tubers", root=(206, 184, 140), tuber=(112, 78, 50), blade=(150, 178, 70)),
        ],
    ),
    Conversation(
        id="#s0113",
        speeches=[
            user("I want to keep the garlic that I pulled today over winter."),
            user("""
                It is hardneck garlic, 40 bulbs, clean and firm. I have an airy shed and a cellar at 12 degrees. In what order
                do I use which, and when do I cut the stems?
            """),
        ],
        cuts=[
            Cut(
                2,
                RESPOND,
                prose("""
                    First the shed: hang the bulbs in bunches of ten, with stems and leaves, out of the sun, for three to four
                    weeks until the necks are dry. Then cut the stems two finger widths above the bulbs, trim the roots, and
                    move them to the cellar in nets. Hardneck garlic keeps four to six months at 12 degrees if the air is dry.
                """),
                [
                    "plant: hardneck garlic, 40 bulbs, clean and firm",
                    "time: pulled today",
                    "room: an airy shed",
                    "second room: a cellar at 12 degrees",
                    "wish: keep it over winter",
                ],
            ),
        ],
        pictures=[picture("bulbs", skin=(234, 222, 224), streak=(156, 98, 132), number=3)],
    ),
    Conversation(
        id="#s0114",
        speeches=[
            user("A vine with white funnels strangles my roses. I pull it and it is back in a week."),
            expert("Field bindweed. Its roots go deep, so pulling takes years. How large is the bed?"),
            expert("And do you use weedkillers at all?"),
            user("About as large as a door."),
        ],
        cuts=[
            Cut(
                4,
                CLARIFY,
                "Would you use a weedkiller if it touched nothing but the bindweed?",
                [
                    "plant to keep: roses",
                    "weed: vine with white funnels, field bindweed",
                    "tried: pulling, back in a week",
                    "size of the bed: as a door",
                ],
                ["whether weedkillers are welcome"],
            ),
        ],
        pictures=[picture("vine", shape="arrow", leaf=(92, 142, 74), flower=(246, 240, 242))],
    ),
    Conversation(
        id="#s0115",
        speeches=[
            user("Is this beetle good or bad?"),
            expert("Where did you find it, and what does it do?"),
            user("On my potatoes, a lot of them."),
            expert("Do you see orange eggs below the leaves, or red grubs?"),
            user("Wait, I will look."),
            user("There are both. The leaves are half gone."),
        ],
        cuts=[
            Cut(
                1,
                CLARIFY,
                "On which plant did you find the beetle, and does it feed on the leaves?",
                ["animal: a beetle"],
                ["where it was found", "what it does", "number"],
            ),
            Cut(
                6,
                CLARIFY,
                "How many plants do you have, and are you willing to use a product that is allowed in organic growing?",
                [
                    "animal: beetles, a lot of them",
                    "plant: potatoes",
                    "stages: beetles, orange eggs and red grubs",
                    "damage: leaves half gone",
                ],
                ["number of plants", "whether spraying is welcome"],
            ),
        ],
        pictures=[
            picture(
                "beetle", shell=(228, 190, 92), pattern="stripes", mark=(36, 30, 26), head=(206, 128, 60), number=2
            ),
            picture("grubs", body=(186, 74, 52), dots=(30, 24, 24), leaf=(98, 140, 74)),
        ],
    ),
]
