"""Management rows without context: four categories, advice of 60 to 150 words as gold answer."""

from __future__ import annotations

from lmms_tasks.mirage.samples.row import Row, picture, prose

CARE = "Plant Care and Gardening Guidance"
DISEASE = "Plant Disease Management"
INSECT = "Insect and Pest Management"
WEED = "Weeds/Invasive Plants Management"

ROWS = [
    Row(
        id="#s0015",
        category=CARE,
        question=prose("""
            The lower leaves of my staked tomatoes roll upward lengthwise and feel leathery, yet they stay green and
            the fruit looks fine. It began after a heat wave and after I took off many suckers. Do I need to spray?
        """),
        answer=prose("""
            No spray is needed. Upward rolling of lower leaves that remain green and firm is physiological leaf roll,
            a response to heat, heavy pruning or swings in soil moisture, and it hardly affects the yield. Water
            deeply once or twice a week so that the top 20 cm of soil stay evenly moist, and spread 5 to 8 cm of straw
            or shredded leaves around the plants. Stop removing suckers in hot spells and go easy on nitrogen. Look
            further only if new growth at the top is twisted, narrow or mottled, since that would suggest herbicide
            drift or a virus.
        """),
        entity_type="plant",
        entity_name="tomato",
        scientific_name="Solanum lycopersicum",
        common_names=[],
        state="Oklahoma",
        county="Payne County",
        asked_time="2018-07-09 08:17:30",
        pictures=[picture("sprig", shape="compound", leaf=(82, 136, 64), stem=(112, 144, 82), fruit=(206, 70, 44))],
    ),
    Row(
        id="#s0016",
        category=CARE,
        question=prose("""
            Two of my highbush blueberries have yellow young leaves with green veins. They were planted last spring
            next to a concrete walk. The others, farther away, look healthy. How do I green them up?
        """),
        answer=prose("""
            Yellow young leaves with green veins mean iron deficiency, and in blueberries the usual reason is soil
            that is not acid enough; lime leaching from the concrete raises the pH. Test the soil beside a sick and a
            healthy bush. The target is pH 4.5 to 5.2. If it is higher, work elemental sulfur into the surface at the
            rate given with the test, in split doses, because it takes months to act. Feed with ammonium sulfate,
            never with nitrate or lime, and mulch with pine bark. Chelated iron on the leaves greens them for a few
            weeks only. If the pH stays above 6, move the bushes away from the walk while they are dormant.
        """),
        entity_type="plant",
        entity_name="highbush blueberry",
        scientific_name="Vaccinium corymbosum",
        common_names=["northern highbush blueberry"],
        state="New Jersey",
        county="Burlington County",
        asked_time="2019-06-03 12:05:18",
        pictures=[
            picture("leaf", shape="ovate", leaf=(216, 206, 84), mark="chlorosis", spot=(72, 128, 56)),
            picture(
                "sprig", shape="ovate", leaf=(196, 192, 84), stem=(134, 104, 78), fruit=(72, 88, 146), back="concrete"
            ),
        ],
    ),
    Row(
        id="#s0017",
        category=CARE,
        question=prose("""
            My jade plant has been dropping plump leaves all winter, and the base of one branch has gone soft. I water
            it every Saturday. Can it be saved?
        """),
        answer=prose("""
            Weekly watering in winter is too much: the roots have begun to rot. Take the plant out of its pot, shake
            off the wet mix and cut away all brown, mushy roots and the soft branch down to firm, clean tissue. Let
            the cuts dry for two or three days. Repot in a container with drainage holes, no wider than the roots,
            using cactus mix or potting soil with one third coarse perlite. Wait a week, then water only when the mix
            is dry to the bottom, in winter perhaps every three to four weeks, in a bright window. Root a few healthy
            tips in dry mix as insurance.
        """),
        entity_type="plant",
        entity_name="jade plant",
        scientific_name="Crassula ovata",
        common_names=["money plant"],
        state="Massachusetts",
        county="Worcester County",
        asked_time="2021-02-07 16:42:11",
        pictures=[
            picture("potted", leaf=(104, 146, 88), pot=(178, 98, 66), kind="succulent"),
            picture(
                "leaf", shape="paddle", leaf=(150, 160, 84), mark="blotch", spot=(112, 82, 52), count=3, back="table"
            ),
        ],
    ),
    Row(
        id="#s0018",
        category=CARE,
        question="大棚草莓追肥后几天，老叶的边缘变褐焦枯，但叶子中间还是绿的，土面上有一层白霜。应该怎么处理？",
        answer=(
            "这是施肥过量引起的盐害：土面的白霜是盐分，叶缘焦枯说明根系吸水受阻。"
            "第一，立即停止追肥，剪去完全干枯的老叶。第二，用含盐量低的水分两三次浇透，把盐分淋到根层以下，"
            "两次之间相隔一两天，并保证沟里排水通畅，防止沤根。第三，如有条件，测定土壤电导率，"
            "降到每厘米一毫西门子（饱和浸提液）左右再恢复施肥。第四，以后少量多次，用滴灌施稀薄肥液，"
            "不施未腐熟的鸡粪，并覆盖地膜减少水分蒸发和返盐。新叶边缘正常，就说明已经恢复。"
        ),
        entity_type="plant",
        entity_name="strawberry",
        scientific_name="Fragaria × ananassa",
        common_names=["草莓"],
        state="California",
        county="Monterey County",
        asked_time="2020-03-19 09:30:52",
        pictures=[picture("trefoil", leaf=(88, 144, 66), toothed=True, scorch=(140, 92, 50))],
    ),
    Row(
        id="#s0019",
        category=DISEASE,
        question=prose("""
            White powder covers the upper leaves of my zucchini, and older leaves are drying. The plants still bear.
            Is it worth treating, and with what?
        """),
        answer=prose("""
            This is powdery mildew, and with several weeks of harvest ahead treatment pays. Cut off the worst leaves,
            at most a quarter of the plant, and bin them. Then cover both leaf surfaces with potassium bicarbonate,
            wettable sulfur or horticultural oil, starting with the newest infections, and repeat every 7 to 10 days.
            Do not apply sulfur or oil above 32 °C, nor within two weeks of each other. The mildew grows without wet
            leaves, so more space and sun help more than keeping the foliage dry. Next year choose a resistant variety
            and sow a second batch at midsummer.
        """),
        entity_type="plant disease",
        entity_name="powdery mildew",
        scientific_name="Podosphaera xanthii",
        common_names=["cucurbit powdery mildew"],
        state="Virginia",
        county="Albemarle County",
        asked_time="2019-08-02 18:26:40",
        pictures=[
            picture("leaf", shape="palmate", leaf=(74, 124, 62), mark="mildew", spot=(238, 240, 234), count=22),
            picture(
                "leaf", shape="palmate", leaf=(132, 146, 80), mark="mildew", spot=(232, 232, 222), count=34, back="soil"
            ),
        ],
    ),
    Row(
        id="#s0020",
        category=DISEASE,
        question=prose("""
            Every summer my hybrid roses lose most leaves after black fringed spots appear. I would like to spray as
            little as possible. What is the best routine?
        """),
        answer=prose("""
            Black spots with feathery edges and early yellowing are black spot. Begin with hygiene: rake up fallen
            leaves in autumn, prune out canes with purple lesions in late winter and lay fresh mulch. Water at ground
            level in the morning, because spores need about seven hours of wet leaf to infect, and thin crowded
            bushes. If you must spray, start when leaves unfold and repeat every 7 to 14 days with a labelled
            fungicide such as chlorothalonil or tebuconazole, changing the group; sulfur is a milder choice. Sprays
            prevent new spots and do not heal old ones. The lasting answer is to replace the worst plants with
            resistant shrub roses.
        """),
        entity_type="plant disease",
        entity_name="rose black spot",
        scientific_name="Diplocarpon rosae",
        common_names=["black spot"],
        state="Alabama",
        county="Lee County",
        asked_time="2017-06-28 20:11:03",
        pictures=[
            picture(
                "leaf",
                shape="pinnate",
                leaf=(96, 140, 64),
                mark="fringed",
                spot=(34, 28, 30),
                count=14,
                size=0.035,
                halo=(222, 204, 78),
            ),
        ],
    ),
    Row(
        id="#s0021",
        category=DISEASE,
        question=prose("""
            Our old apple tree bears fruit with corky brown scabs, the leaves have olive smudges, and many drop by
            July. How can I get cleaner apples next year?
        """),
        answer=prose("""
            The olive leaf blotches and corky fruit spots are apple scab. The fungus winters in fallen leaves, so
            shred them with a mower or rake them away after leaf fall; a urea spray on the litter speeds decay. Prune
            in late winter so that light and wind reach the centre of the crown. Protection matters most from green
            tip until two weeks after petal fall: apply captan, sulfur or a labelled home-orchard fungicide every 7 to
            10 days in rainy weather, and stop then if no leaf spots are found. Spray nothing with insecticide during
            bloom. When you replant, choose scab-resistant cultivars such as Liberty or Enterprise.
        """),
        entity_type="plant disease",
        entity_name="apple scab",
        scientific_name="Venturia inaequalis",
        common_names=[],
        state="Michigan",
        county="Kent County",
        asked_time="2018-07-24 10:49:55",
        pictures=[
            picture("leaf", shape="ovate", leaf=(84, 134, 64), mark="blotch", spot=(84, 84, 40), count=8, size=0.06),
            picture("fruit", skin=(196, 84, 60), blemish="scab", stalk=True),
            picture("fruit", skin=(162, 176, 70), blemish="scab", stalk=True, number=2, back="table"),
        ],
    ),
    Row(
        id="#s0022",
        category=DISEASE,
        question=prose("""
            After a week of cool rain my potato tops show dark, greasy patches with a white fuzz below, and they
            collapse fast. Can I still save the tubers?
        """),
        answer=prose("""
            Spreading greasy patches with white fuzz on the underside after cool rain are late blight, and it kills
            tops within days. Cut and remove the haulm now if more than a tenth is infected; bag it or bury it deep,
            and do not leave it on the heap. Hill soil over exposed tubers. Wait two to three weeks, so that skins set
            and spores on the surface die, then dig on a dry day. Sort out tubers with reddish-brown, firm rot, store
            the rest cool and dark, and check them weekly. Tell neighbours and the extension office, because spores
            travel for miles. Next season plant certified seed and destroy volunteers.
        """),
        entity_type="plant disease",
        entity_name="late blight",
        scientific_name="Phytophthora infestans (Mont.) de Bary, 1876",
        common_names=["potato blight"],
        state="Wisconsin",
        county="Portage County",
        asked_time="2015-08-17 07:58:22",
        pictures=[
            picture(
                "leaf", shape="compound", leaf=(72, 116, 58), mark="blotch", spot=(54, 46, 34), count=10, size=0.075
            ),
            picture("leaf", shape="ovate", leaf=(122, 150, 96), mark="fuzzy", spot=(62, 54, 42), count=3, size=0.12),
        ],
    ),
    Row(
        id="#s0023",
        category=INSECT,
        question=prose("""
            Clusters of small green insects sit under the curled leaves of my pepper seedlings, and ants run up and
            down. What is a gentle way of getting rid of them?
        """),
        answer=prose("""
            The green clusters are aphids, and the ants guard them for their honeydew. First wash them off with a firm
            jet of water, supporting the leaves with one hand, and repeat every other day for a week. If they return,
            spray insecticidal soap (about 1 to 2 percent) in the evening so that the undersides drip; it works only
            on insects that it wets, so repeat after four days. Block the ants with a sticky band on the stakes or
            pots. Hold back nitrogen, which makes soft shoots. Avoid broad-spectrum insecticides: lady beetles,
            lacewings and small wasps usually finish the job within two weeks.
        """),
        entity_type="insect/pest",
        entity_name="green peach aphid",
        scientific_name="Myzus persicae",
        common_names=[],
        state="Arizona",
        county="Pima County",
        asked_time="2021-04-12 15:37:14",
        pictures=[picture("aphids", body=(150, 190, 92), legs=(96, 112, 64), on="leaf", count=20)],
    ),
    Row(
        id="#s0024",
        category=INSECT,
        question=prose("""
            Metallic green beetles with coppery wings chew my grape leaves into lace. A friend recommends traps with a
            lure. Good idea?
        """),
        answer=prose("""
            Leave the traps out: lures for Japanese beetle draw in more beetles than they catch, and nearby vines
            suffer. Knock adults into soapy water early in the morning, while they are sluggish, every day during the
            first two weeks, because feeding beetles attract others. Established vines bear the loss of about a fifth
            of their leaf area; young vines can be covered with fine netting after bloom. If damage goes further,
            spray neem, spinosad or a labelled pyrethroid, never while flowers are open, and keep to the interval
            before harvest. Against grubs in the lawn use Heterorhabditis nematodes on moist soil in late summer,
            although this will not stop adults flying in.
        """),
        entity_type="insect/pest",
        entity_name="japanese beetle",
        scientific_name="Popillia japonica Newman, 1841",
        common_names=[],
        state="Indiana",
        county="Tippecanoe County",
        asked_time="2016-07-05 11:14:46",
        pictures=[
            picture("beetle", shell=(168, 98, 50), pattern="tufts", mark=(236, 232, 220), head=(42, 116, 74)),
            picture("leaf", shape="palmate", leaf=(104, 144, 70), mark="holes", count=34, size=0.03),
            picture(
                "beetle", shell=(176, 106, 58), pattern="tufts", mark=(240, 236, 226), head=(38, 106, 66), number=3
            ),
        ],
    ),
    Row(
        id="#s0025",
        category=INSECT,
        question=prose("""
            My pumpkin vine wilts at noon, and near the ground there is something like wet sawdust coming out of the
            stem. It was fine last week. Is the plant lost?
        """),
        answer=prose("""
            Wet sawdust at the base of a wilting vine is the frass of squash vine borer larvae, and the plant can
            often be rescued. Slit the stem lengthwise above the hole with a thin blade, pick out the white
            caterpillar and look for others. Then cover the wound and two or three nodes farther out with moist soil,
            so that new roots form, and keep it watered. Next year use row cover from planting until the first female
            flowers, rotate the bed, and wrap stem bases with foil. Where the moth is common, treat stem bases with
            spinosad or a labelled insecticide weekly when adults fly in early summer. Destroy vines after harvest.
        """),
        entity_type="insect/pest",
        entity_name="squash vine borer",
        scientific_name="Melittia cucurbitae",
        common_names=[],
        state="Kentucky",
        county="Fayette County",
        asked_time="2019-07-15 13:09:27",
        pictures=[
            picture("stem_hole", stem=(122, 156, 84), frass=(196, 160, 92)),
            picture("caterpillar", body=(238, 230, 206), head=(96, 62, 40), bare=True),
        ],
    ),
    Row(
        id="#s0026",
        category=WEED,
        question=prose("""
            A vine with white trumpet flowers and arrowhead leaves winds up my raspberries. I pull it all the time,
            and it is back in two weeks. What really works?
        """),
        answer=prose("""
            This is field bindweed. Its roots reach several metres down and regrow from fragments, so pulling now and
            then only trims it. Exhaust the roots instead: cut or hoe every shoot at the soil surface each 10 to 14
            days, without a break, for two or three seasons. Between the rows lay woven ground cloth, overlapping
            well, because shoots creep to every gap. Where spraying is possible, unwind vines, lay them on cardboard
            and wipe glyphosate on the leaves at early bloom or in early autumn, when sugars move downward; keep it
            off the raspberry canes and suckers. Never rototill, which multiplies the pieces, and remove flowers
            before seeds form, since these last for decades.
        """),
        entity_type="plant",
        entity_name="field bindweed",
        scientific_name="Convolvulus arvensis",
        common_names=["creeping jenny"],
        state="Utah",
        county="Cache County",
        asked_time="2020-06-30 09:51:38",
        pictures=[picture("vine", shape="arrow", leaf=(92, 142, 74), flower=(246, 240, 242))],
    ),
    Row(
        id="#s0027",
        category=WEED,
        question=prose("""
            Light green grass with fingers on top spreads flat through my bluegrass lawn each August. How do I keep it
            from taking over?
        """),
        answer=prose("""
            The flat light green clumps with finger-like seed heads are crabgrass, an annual that dies with the first
            hard frost. At this size killing it brings little: pull single clumps, and bag clippings while seed heads
            stand. The real chance is next spring. Apply a pre-emergence herbicide such as prodiamine or dithiopyr
            when the soil at 5 cm reaches about 13 °C for several days, roughly when forsythia fades, and water it in.
            Do not use it where you sow grass. Overseed thin spots in early September, mow at 8 to 9 cm and water
            deeply but rarely: a dense, tall sward shades the seedlings out.
        """),
        entity_type="plant",
        entity_name="large crabgrass",
        scientific_name="Digitaria sanguinalis",
        common_names=["hairy crabgrass"],
        state="Iowa",
        county="Polk County",
        asked_time="2017-08-21 17:33:05",
        pictures=[
            picture("grass", blade=(142, 182, 88), head="fingers", spread=1.0),
            picture("lawn", blade=(86, 138, 70), patch=(158, 190, 96)),
        ],
    ),
    Row(
        id="#s0028",
        category=WEED,
        question=prose("""
            A shiny yellow-green plant grows faster than my lawn and vegetables. Its stem is three-cornered and there
            are small nuts on the roots. Pulling makes it worse. What now?
        """),
        answer=prose("""
            A three-cornered stem and small tubers on the roots mean yellow nutsedge, which lawn weedkillers for broad
            leaves do not touch. Pulling leaves the tubers behind, and they sprout. In lawns apply a sedge herbicide
            with halosulfuron or sulfentrazone in early summer, when plants have three to eight leaves and before new
            tubers form, and repeat as the label allows. In vegetables dig out young plants with the surrounding soil,
            at least 25 cm deep, every two to three weeks until autumn. Improve drainage and stop overwatering,
            because this sedge thrives in wet soil. Expect two or three years, and clean tools so that tubers do not
            travel.
        """),
        entity_type="plant",
        entity_name="yellow nutsedge",
        scientific_name="Cyperus esculentus",
        common_names=["chufa", "nutgrass"],
        state="Florida",
        county="Alachua County",
        asked_time="2018-05-30 14:28:16",
        pictures=[
            picture("grass", blade=(168, 190, 70), head="umbel", spread=0.55),
            picture("tubers", root=(206, 184, 140), tuber=(112, 78, 50), blade=(160, 186, 72)),
            picture("lawn", blade=(74, 124, 62), patch=(182, 196, 72)),
        ],
    ),
]
