"""Management rows with place and time: the advice depends on where or when the question was asked."""

from __future__ import annotations

from lmms_tasks.mirage.samples.row import Row, picture, prose
from lmms_tasks.mirage.samples.texts_mg import CARE, DISEASE, INSECT, WEED

ROWS = [
    Row(
        id="#s0029",
        category=CARE,
        question=prose("""
            I bought these hardneck garlic bulbs at the market. Should I plant now or wait until spring, and how?
        """),
        answer=prose("""
            Plant this fall, but wait about two to three weeks more. In southern Wisconsin the best time is from early
            to mid October, roughly four weeks before the soil freezes: cloves then grow roots without sending up much
            leaf. Spring planting gives small bulbs, often without cloves. Choose a sunny, well-drained bed, mix in
            compost, and separate the bulbs only on the day of planting. Set the largest cloves point up, 5 cm deep
            and 15 cm apart. When the ground begins to freeze, cover with 10 to 15 cm of clean straw, and loosen the
            mulch in April as shoots appear. Eat bulbs that are soft or mouldy soon or discard them; do not plant
            them.
        """),
        entity_type="plant",
        entity_name="garlic",
        scientific_name="Allium sativum",
        common_names=["hardneck garlic"],
        state="Wisconsin",
        county="Dane County",
        asked_time="2019-09-20 10:15:32",
        asked_at="2019-09-20 10:15:32",
        location_related=True,
        time_related=True,
        location_analysis="The date of soil freezing in southern Wisconsin sets the planting window.",
        time_analysis="In late September there is still time before planting; in spring the answer would be different.",
        pictures=[picture("bulbs", skin=(234, 222, 224), streak=(156, 98, 132), number=2)],
    ),
    Row(
        id="#s0030",
        category=CARE,
        question=prose("""
            The forecast says 27 °F for two nights. My potted Meyer lemon on the patio is in bloom and has fruit. What
            must I do?
        """),
        answer=prose("""
            A potted lemon loses flowers and young fruit near 30 °F and leaves in the mid 20s, and its roots cool
            faster than in the ground, so act before the first night. The safest way is to move the pot into a garage
            or bright room until the cold spell has passed. If it is too heavy, push it against a south wall, water
            the soil well by day, and drape frost cloth to the ground over stakes so that it does not touch the
            leaves; an old string of incandescent lights below adds a few degrees. Remove the cover each morning. Pick
            ripe fruit now. In the low desert wait until March before you prune damaged twigs, because more frost may
            follow.
        """),
        entity_type="plant",
        entity_name="meyer lemon",
        scientific_name="Citrus × meyeri",
        common_names=[],
        state="Arizona",
        county="Maricopa County",
        asked_time="2021-12-30 16:04:09",
        asked_at="2021-12-30 16:04:09",
        location_related=True,
        time_related=True,
        location_analysis="Radiation frosts of the low desert are short, so temporary cover is enough.",
        time_analysis="At the end of December more frosts may follow, so pruning has to wait.",
        pictures=[
            picture("potted", leaf=(70, 122, 58), pot=(150, 104, 82), kind="shrub", fruit=(244, 204, 56)),
            picture("flower", petals=5, petal=(250, 246, 244), centre=(236, 206, 90), back="foliage"),
        ],
    ),
    Row(
        id="#s0031",
        category=CARE,
        question=prose("""
            I planted this whip of a peach tree in November and have not touched it. Some neighbours prune already,
            others say to wait. When and how should I cut it?
        """),
        answer=prose("""
            Wait until shortly before or at bloom, in your area the first half of March. Peaches pruned in midwinter
            lose hardiness and are open to canker and late freezes. For the first cut, head the whip at 60 to 75 cm
            above the ground, just over a strong bud, and remove weak side twigs. In early summer choose three or four
            shoots that point in different directions with wide angles, the lowest about 45 cm from the soil, and
            pinch the others: these become the arms of an open vase. Cut on a dry day with clean tools and paint
            nothing on the wounds. Keep a circle of one metre free of grass and hold fertiliser until growth begins.
        """),
        entity_type="plant",
        entity_name="peach",
        scientific_name="Prunus persica",
        common_names=[],
        state="South Carolina",
        county="Spartanburg County",
        asked_time="2018-01-27 12:40:50",
        asked_at="2018-01-27 12:40:50",
        location_related=False,
        time_related=True,
        location_analysis="The training form is the same in every peach region.",
        time_analysis="It is January, and cutting before bloom would expose the tree to winter injury.",
        pictures=[
            picture("bare_tree", bark=(118, 92, 76), buds=(196, 120, 130)),
            picture("flower", petals=5, petal=(244, 176, 192), centre=(182, 74, 96), back="sky"),
        ],
    ),
    Row(
        id="#s0032",
        category=CARE,
        question=prose("""
            My tall fescue lawn went thin and brown over the summer. Can I throw seed on it this weekend, or is it too
            hot?
        """),
        answer=prose("""
            Hold the seed for three or four weeks. In the North Carolina Piedmont tall fescue is best sown from early
            September to mid October, when nights cool down and roots have weeks to grow; seedlings of early August
            usually die from heat and brown patch. Use the time: take a soil sample, kill bermudagrass or other
            perennial weeds, and mow lower just before sowing. Core aerate, then spread 2 to 3 kg of a blend of
            turf-type tall fescues per 100 square metres of thin lawn, apply lime and starter fertiliser by the test,
            and keep the top centimetre moist until seedlings reach 5 cm. Apply no pre-emergence herbicide this fall.
        """),
        entity_type="plant",
        entity_name="tall fescue",
        scientific_name="Schedonorus arundinaceus",
        common_names=[],
        state="North Carolina",
        county="Wake County",
        # The column keeps local time without seconds, the question universal time: four hours apart in summer.
        asked_time="2022-08-06 09:21:00",
        asked_at="2022-08-06 13:21:44",
        location_related=True,
        time_related=True,
        location_analysis="The Piedmont is a transition zone, where cool-season grass is sown in early fall.",
        time_analysis="Early August is too hot for seedlings; the window opens in September.",
        pictures=[picture("lawn", blade=(104, 140, 74), patch=(190, 164, 104))],
    ),
    Row(
        id="#s0033",
        category=DISEASE,
        question=prose("""
            The new leaves on my peach tree are thick, blistered and red. I sprayed copper today. Will it stop the
            problem?
        """),
        answer=prose("""
            A spray now will not help. This is peach leaf curl, and the infection took place when the buds swelled in
            late winter; leaves that are already puckered cannot be healed and will drop within weeks. Support the
            tree instead: water it in dry spells, thin the fruit more than usual, and feed lightly with nitrogen so
            that the second set of leaves grows well. Picking off curled leaves is optional. Mark the calendar for
            prevention: one thorough spray of copper or chlorothalonil after leaf fall in November, and in wet sites a
            second one in February, before buds swell, covering every twig. Consider a resistant cultivar such as
            Frost when you replant.
        """),
        entity_type="plant disease",
        entity_name="peach leaf curl",
        scientific_name="Taphrina deformans",
        common_names=["leaf curl"],
        state="Washington",
        county="Yakima County",
        asked_time="2020-05-04 19:02:27",
        asked_at="2020-05-04 19:02:27",
        location_related=False,
        time_related=True,
        location_analysis="The timing follows the stage of the buds and hardly depends on the county.",
        time_analysis="In May the infection is months old, so the next useful spray comes after leaf fall.",
        pictures=[
            picture(
                "leaf", shape="lanceolate", leaf=(120, 158, 80), mark="curl", spot=(204, 78, 84), count=9, size=0.075
            ),
            picture("sprig", shape="lanceolate", leaf=(162, 136, 84), stem=(140, 96, 76), back="sky"),
        ],
    ),
    Row(
        id="#s0034",
        category=DISEASE,
        question=prose("""
            Just before picking, my peaches turn brown and grow tan fuzz, and some hang on as dry mummies. A storm is
            coming this week. What should I do right now?
        """),
        answer=prose("""
            Tan powdery spores and shrivelled fruit mean brown rot, which explodes on ripe peaches in warm rain. Today
            pick all fruit that shows colour and gives slightly, cool it at once and use it soon. Remove every rotten
            fruit and mummy from tree and ground, and bury or bag them. If a week or more remains before the rest
            ripens, apply a labelled fungicide such as captan or fenbuconazole before the rain and heed its waiting
            time before harvest. Control stink bugs and handle fruit gently, since wounds are the entry points. In
            winter prune for air and cut out cankered twigs, and next year protect blossoms as well as the last three
            weeks before harvest.
        """),
        entity_type="plant disease",
        entity_name="brown rot",
        scientific_name="Monilinia fructicola",
        common_names=[],
        state="Pennsylvania",
        county="Adams County",
        asked_time="2022-08-09 07:36:00",
        asked_at="2022-08-09 11:36:18",
        location_related=False,
        time_related=True,
        location_analysis="The same steps hold in all humid peach regions of the East.",
        time_analysis="In August harvest is near, so picking, sanitation and waiting times decide.",
        pictures=[
            picture("fruit", skin=(234, 158, 96), blemish="brown_rot", stalk=True),
            picture("fruit", skin=(222, 132, 84), blemish="brown_rot", number=2, back="table"),
            picture(
                "sprig", shape="lanceolate", leaf=(88, 134, 66), stem=(122, 88, 66), fruit=(106, 72, 52), back="sky"
            ),
        ],
    ),
    Row(
        id="#s0035",
        category=DISEASE,
        question=prose("""
            I see yellow-orange lines of powder on the upper leaves of my winter wheat. The flag leaf is just out. Is
            a fungicide worth its cost?
        """),
        answer=prose("""
            Yes, probably. Pustules in lines are stripe rust, and cool, moist spring weather in the Palouse lets it
            spread fast. Flag leaf emergence is the stage at which spraying pays best, because the top two leaves fill
            the grain. First look up the cultivar: if it has good adult-plant resistance and rust is found only on
            lower leaves, wait and scout again in five days. On a susceptible cultivar with active pustules, and cool
            nights in the forecast, apply a triazole or a triazole-strobilurin mix now, once, at the full rate. Do not
            spray after flowering, and check the interval before harvest. Next fall sow a resistant cultivar and
            control volunteer wheat.
        """),
        entity_type="plant disease",
        entity_name="stripe rust",
        scientific_name="Puccinia striiformis f. sp. tritici",
        common_names=["yellow rust"],
        state="Washington",
        county="Whitman County",
        asked_time="2017-05-24 06:47:13",
        asked_at="2017-05-24 06:47:13",
        location_related=True,
        time_related=True,
        location_analysis="Cool, moist springs of the Palouse favour stripe rust year after year.",
        time_analysis="Late May coincides with flag leaf emergence, the last stage at which a spray pays.",
        pictures=[picture("blade", blade=(112, 156, 76), mark="stripe_rust", spot=(234, 164, 40))],
    ),
    Row(
        id="#s0036",
        category=DISEASE,
        question=prose("""
            Our boxwood hedge has dark leaf spots and black streaks on the twigs, and leaves fall off by handfuls.
            What do we do with the hedge?
        """),
        answer=prose("""
            Dark spots, black streaks on green twigs and sudden leaf fall point to boxwood blight. Have it confirmed:
            send a fresh branch in a sealed bag to the Virginia Tech plant clinic through your extension office. Until
            then do not shear and do not work while leaves are wet. If confirmed, cut badly affected plants at the
            ground, bag them with all fallen leaves on the spot and send them to the landfill, never to compost. Clean
            tools, boots and gloves with alcohol or diluted bleach. Cover the soil with fresh mulch. Remaining plants
            can be protected with chlorothalonil, with or without tebuconazole, every 7 to 14 days in mild, wet
            weather, which here lasts well into October. Replant with holly or tolerant cultivars.
        """),
        entity_type="plant disease",
        entity_name="boxwood blight",
        scientific_name="Calonectria pseudonaviculata",
        common_names=["box blight"],
        state="Virginia",
        county="Fairfax County",
        asked_time="2018-09-16 15:55:20",
        asked_at="2018-09-16 15:55:20",
        location_related=True,
        time_related=True,
        location_analysis="The state clinic confirms the disease, and humid falls in Virginia prolong it.",
        time_analysis="In September weeks of mild and wet weather lie ahead, so protection still counts.",
        pictures=[
            picture("sprig", shape="ovate", leaf=(66, 112, 56), stem=(52, 44, 36), spotted=(58, 40, 30), small=True),
            picture(
                "leaf",
                shape="ovate",
                leaf=(78, 122, 62),
                mark="rings",
                spot=(70, 48, 36),
                count=5,
                size=0.07,
                halo=(136, 128, 66),
                back="soil",
            ),
        ],
    ),
    Row(
        id="#s0037",
        category=INSECT,
        question=prose("""
            Woodpeckers peel bark from my big ash, and I find small D-shaped holes. About a fifth of the crown is
            thin. Can the tree be treated this spring?
        """),
        answer=prose("""
            Yes, this is the right moment. D-shaped holes and woodpecker feeding show emerald ash borer, and an ash
            that has lost less than about a third of its crown still moves an insecticide through its wood. The best
            window in southern Michigan is from mid May to mid June, after leaves are out and the soil is moist. For a
            large tree hire a certified arborist for a trunk injection of emamectin benzoate, which protects for two
            years and usually longer than a soil drench. Smaller trees may get imidacloprid at the soil each year.
            Plan to repeat as long as you keep the tree. If the crown thins beyond half, have it felled soon, because
            dead ash turns brittle.
        """),
        entity_type="insect/pest",
        entity_name="emerald ash borer",
        scientific_name="Agrilus planipennis Fairmaire, 1888",
        common_names=["eab"],
        state="Michigan",
        county="Washtenaw County",
        asked_time="2019-04-23 11:08:41",
        asked_at="2019-04-23 11:08:41",
        location_related=True,
        time_related=True,
        location_analysis="The date of leaf-out in southern Michigan sets the time of treatment.",
        time_analysis="Late April leaves three weeks to arrange an injection after leaf-out.",
        pictures=[
            picture("trunk", bark=(134, 122, 108), mark="d_holes"),
            picture("beetle", shell=(38, 128, 72), pattern="plain", mark=(20, 80, 46), head=(58, 122, 64), slim=True),
        ],
    ),
    Row(
        id="#s0038",
        category=INSECT,
        question=prose("""
            There are grey smears like dried mud on the trunk of my maple, each as long as a thumb joint. Are they
            eggs, and should I remove them?
        """),
        answer=prose("""
            They are egg masses of spotted lanternfly, and January is a good time to remove them, because eggs hatch
            only from late April on. Hold a plastic card and an open bag with rubbing alcohol or hand sanitiser
            against the bark, scrape each mass downward into it, press firmly and seal the bag; eggs left on the
            ground can survive. Look also beneath branches, on fences, stones, firewood and vehicles, since most
            masses sit out of reach and others travel. Berks County lies in the state quarantine, so check everything
            that you move. Scraping alone will not free the tree; in May fit a circle trap against nymphs, and avoid
            sticky bands without a guard, which catch birds.
        """),
        entity_type="insect/pest",
        entity_name="spotted lanternfly",
        scientific_name="Lycorma delicatula",
        common_names=[],
        state="Pennsylvania",
        county="Berks County",
        asked_time="2021-01-18 13:50:06",
        asked_at="2021-01-18 13:50:06",
        location_related=True,
        time_related=True,
        location_analysis="The county lies in a quarantine, which imposes checks before anything is moved.",
        time_analysis="In January only eggs exist, so scraping is the right measure.",
        pictures=[picture("trunk", bark=(146, 134, 118), mark="egg_smear")],
    ),
    Row(
        id="#s0039",
        category=INSECT,
        question=prose("""
            Something chews round holes into my kale, and white butterflies flutter around it. I garden without
            synthetic chemicals. How do I keep the summer crop clean?
        """),
        answer=prose("""
            Velvety green caterpillars of the cabbage white butterfly make these holes, and in the Willamette Valley
            several generations follow each other into October, so plan for the whole season. Pick caterpillars and
            yellow eggs from the undersides twice a week. Spray Bacillus thuringiensis kurstaki in the evening while
            caterpillars are small, again after rain or every five to seven days; spinosad works on bigger ones, but
            keep it away from bees. Cover new plantings with fine netting on hoops from the day you set them out,
            edges buried. Clear away old stalks after harvest, and leave dill or yarrow in bloom nearby for the small
            wasps that kill them.
        """),
        entity_type="insect/pest",
        entity_name="imported cabbageworm",
        scientific_name="Pieris rapae",
        common_names=["cabbage white"],
        state="Oregon",
        county="Lane County",
        asked_time="2022-06-25 21:13:00",
        asked_at="2022-06-26 01:13:39",
        location_related=True,
        time_related=True,
        location_analysis="Mild falls of the Willamette Valley allow several generations a year.",
        time_analysis="In June the first generation feeds, and the season of protection has just begun.",
        pictures=[
            picture("leaf", shape="round", leaf=(98, 140, 112), mark="holes", count=12, size=0.06),
            picture("caterpillar", body=(116, 170, 88), stripe=(226, 214, 96)),
            picture("butterfly", wing=(246, 244, 232), tip=(60, 56, 56), back="foliage"),
        ],
    ),
    Row(
        id="#s0040",
        category=WEED,
        question=prose("""
            A few very tall pigweeds with long prickly seed heads stand in my soybeans, and their leaf stalks are
            longer than the leaves. Should I spray again before harvest?
        """),
        answer=prose("""
            Do not spray now. Leaf stalks longer than the blade and long prickly heads suggest Palmer amaranth, and
            plants of this height survive any labelled rate, while one female can drop several hundred thousand seeds.
            Walk the field this week: cut plants below the lowest branch, bag the heads in the row, carry them out and
            burn or bury them deep. Mark the spots. Harvest these patches last and clean the combine. In Iowa the
            plant is still new to most counties, so ask the extension agronomist to confirm it. Next year use two
            soil-applied herbicides with different sites of action, scout early, and treat survivors before they are
            10 cm tall.
        """),
        entity_type="plant",
        entity_name="palmer amaranth",
        scientific_name="Amaranthus palmeri",
        common_names=["carelessweed"],
        state="Iowa",
        county="Story County",
        asked_time="2018-08-28 17:20:34",
        asked_at="2018-08-28 17:20:34",
        location_related=True,
        time_related=True,
        location_analysis="The species is a recent arrival in Iowa, so single plants deserve removal and a report.",
        time_analysis="In late August seeds ripen and herbicides no longer work on plants of this size.",
        pictures=[
            picture("spike_plant", leaf=(88, 134, 66), stem=(156, 92, 82), spike=(142, 158, 92)),
            picture("leaf", shape="ovate", leaf=(96, 144, 72), mark="chevron", spot=(176, 196, 140), stalk=0.55),
        ],
    ),
    Row(
        id="#s0041",
        category=WEED,
        question=prose("""
            White-flowered plants that smell of garlic cover the floor of our woods. They are knee-high and in bloom.
            Is it too late to do something this year?
        """),
        answer=prose("""
            It is not too late; bloom in mid May is the best time to pull garlic mustard, because the second-year
            plants are easy to see and no seed has ripened. Pull them slowly near the ground after rain so that the
            S-shaped root comes along. Plants in flower can still ripen seed after pulling, so bag them and follow
            Minnesota's rules for noxious weeds, which allow transport only to an approved disposal site. Start at the
            edges of the patch and along trails and work inward. Come back in two weeks for missed plants, and in
            October for green rosettes, which may be treated with glyphosate while native plants sleep. Seeds live for
            up to ten years, so repeat each spring.
        """),
        entity_type="plant",
        entity_name="garlic mustard",
        scientific_name="Alliaria petiolata",
        common_names=["jack-by-the-hedge"],
        state="Minnesota",
        county="Hennepin County",
        asked_time="2016-05-14 10:31:58",
        asked_at="2016-05-14 10:31:58",
        location_related=True,
        time_related=True,
        location_analysis="State rules on noxious weeds govern how pulled plants may be moved.",
        time_analysis="In mid May the plants flower and carry no ripe seed, the best moment for pulling.",
        pictures=[
            picture("sprig", shape="heart", leaf=(94, 148, 74), stem=(120, 156, 92), flower=(248, 248, 244), petals=4),
            picture("flower", petals=4, petal=(250, 250, 248), centre=(206, 210, 120), back="foliage"),
            picture("leaf", shape="heart", toothed=True, leaf=(84, 136, 66), back="soil"),
        ],
    ),
    Row(
        id="#s0042",
        category=WEED,
        question=prose("""
            A stand of bamboo-like canes with creamy flowers has taken the stream bank behind our barn. My plan was to
            dig it out this month. Is there a better way?
        """),
        answer=prose("""
            Do not dig: this is Japanese knotweed, its rhizomes reach metres sideways, and pieces of a few grams
            regrow and wash downstream. Late August to the first frost is the best time to hit it, since sugars now
            move into the rhizomes. Cutting in early summer next year and treating the regrowth in September makes
            canes short enough to reach. This fall have a licensed applicator apply an aquatic formulation of
            glyphosate or imazapyr to the leaves or inject the canes; beside water in New York this needs a permit.
            Leave flowering bees alone by treating after petals drop. Dry cut canes on a tarp, never by the stream.
            Expect three to five years, then plant willows.
        """),
        entity_type="plant",
        entity_name="japanese knotweed",
        scientific_name="Reynoutria japonica",
        common_names=["mexican bamboo"],
        state="New York",
        county="Tompkins County",
        asked_time="2021-08-29 09:44:47",
        asked_at="2021-08-29 09:44:47",
        location_related=True,
        time_related=True,
        location_analysis="Treatment beside water in New York needs a permit and an aquatic product.",
        time_analysis="From late August on, herbicide moves down to the rhizomes, and digging only spreads them.",
        pictures=[
            picture("canes", cane=(150, 150, 86), node=(158, 82, 66), leaf=(100, 152, 76), plume=(240, 236, 214))
        ],
    ),
]
