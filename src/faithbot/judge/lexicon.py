"""Word lists that the evidence judge reads: function words, opposites, near-synonyms, number words and units.

All entries are lower case and without accents. Lists are short on purpose: they hold what changes a verdict.
"""

from __future__ import annotations

STOP_WORDS = frozenset(
    """
    a an the this that these those it its he him his she her hers they them their theirs we us our ours you your yours i me my mine
    himself herself itself themselves myself yourself who whom whose which what where when why how there here
    is are was were be been being am do does did done doing has have had having will would shall should can could may might must
    and or but nor so yet as of at by for with about into through during to from in on off over under out up down than then
    also too very just well such both each more most other others some any own same while because however therefore although
    though if unless until else per via not no never only even still already ever etc
    s t d ll m re ve
    one ones get gets got let thing things way ways lot lots
    der die das den dem des ein eine einer eines einem einen und oder aber ist sind war waren wird werden wurde wurden hat haben hatte
    im in am an auf aus bei mit nach von vom zu zum zur fur uber unter durch als auch es sie er ihr ihre sein seine sich dass wenn man wie
    le la les un une des du de et ou mais est sont etait ont avait il elle ils elles ce cette ces dans sur pour par avec que qui se sa son
    ses leur leurs au aux en
    el los las una unos unas y o pero es son era fue ha han su sus del al con por para como lo se
    il lo gli uno ed e ma sono era di da nel nella dei delle della dello alla con per che si suo sua
    os as um uma uns umas e ou mas sao foi do da dos das no na nos nas com por seu sua
    het een of maar zijn was heeft hebben van op te met voor door aan bij naar uit om dat die deze dit ook er ze hij zij
    """.split()
)
"""Words that carry no fact of their own. Negators are among them because polarity is compared separately."""

NEGATORS = frozenset(
    """
    not no never none nobody nothing neither nor without cannot cant wont dont doesnt didnt isnt arent wasnt werent hasnt havent
    hadnt shouldnt wouldnt couldnt mustnt aint lacks lack lacking fails fail failed unable avoid avoids avoiding avoided
    nicht kein keine keinen keinem keiner keines nie niemals nichts ohne weder
    pas jamais aucun aucune rien sans ni
    nunca ningun ninguna ninguno nada sin tampoco jamas
    non nessun nessuna nessuno mai niente senza
    nao nenhum nenhuma sem
    niet geen nooit zonder niets
    """.split()
)

NEGATING_CHARACTERS = ("不", "没", "沒", "無", "无", "未", "ない", "ません", "なかった", "않", "못", "없", "아니")
"""Negation in scripts without spaces, looked up as substrings."""

NOT_NEGATING = (
    "not only",
    "no later than",
    "no more than",
    "no less than",
    "no fewer than",
    "no longer than",
    "not just",
    "no matter",
    "no doubt",
    "nicht nur",
    "non seulement",
    "no solo",
    "non solo",
    "niet alleen",
)
"""Phrases that hold a negator and deny nothing of the sentence."""

_EXCLUSIVE = """
    increase/decrease increases/decreases rise/fall grow/shrink raise/lower gain/lose win/lose winner/loser
    before/after earlier/later early/late first/last begin/end start/finish open/close opened/closed
    above/below over/under up/down left/right top/bottom inside/outside internal/external indoor/outdoor
    more/less/fewer most/least/fewest maximum/minimum max/min at-least/at-most
    high/low higher/lower highest/lowest large/small larger/smaller largest/smallest big/small long/short longer/shorter longest/shortest
    old/young older/younger oldest/youngest new/old newer/older fast/slow faster/slower fastest/slowest hot/cold warm/cool
    hard/soft heavy/light strong/weak wide/narrow deep/shallow thick/thin near/far rich/poor cheap/expensive easy/difficult
    good/bad better/worse best/worst positive/negative true/false right/wrong correct/incorrect
    all/none always/never/rarely everyone/nobody every/no both/neither
    include/exclude includes/excludes included/excluded including/excluding allow/forbid allowed/forbidden/prohibited
    permit/prohibit permitted/prohibited accept/reject accepted/rejected accept/refuse approve/deny approved/denied
    enable/disable enabled/disabled required/optional mandatory/optional/voluntary legal/illegal possible/impossible
    public/private free/paid full/empty full/partial whole/part single/married single/double single/multiple
    male/female man/woman men/women boy/girl father/mother son/daughter brother/sister husband/wife king/queen
    north/south/east/west northern/southern/eastern/western northeast/northwest/southeast/southwest
    monday/tuesday/wednesday/thursday/friday/saturday/sunday
    january/february/march/april/may/june/july/august/september/october/november/december
    summer/winter/spring/autumn day/night morning/evening/afternoon am/pm daily/weekly/monthly/yearly/hourly/quarterly
    red/blue/green/yellow/black/white/brown/orange/purple/pink/grey
    add/remove add/subtract import/export buy/sell push/pull enter/leave arrive/depart love/hate like/dislike
    alive/dead born/died life/death ancient/modern natural/artificial success/failure succeed/fail major/minor
    primary/secondary upper/lower inner/outer horizontal/vertical odd/even temporary/permanent
    refundable/nonrefundable covered/uncovered eligible/ineligible available/unavailable waterproof/permeable
    actor/actress
    europe/asia/africa/australia
    steigen/sinken vor/nach ja/nein alle/keine immer/nie erlaubt/verboten oben/unten innen/aussen
    avant/apres toujours/jamais plus/moins antes/despues siempre/nunca mas/menos prima/dopo sempre/mai piu/meno
"""


def _exclusive_partners() -> dict[str, frozenset[str]]:
    partners: dict[str, set[str]] = {}
    for group in _EXCLUSIVE.split():
        words = group.split("/")
        for word in words:
            partners.setdefault(word, set()).update(other for other in words if other != word)
    return {word: frozenset(others) for word, others in partners.items()}


EXCLUSIVE = _exclusive_partners()
"""Word to the words that cannot hold in its place: opposites, weekdays, months, directions, colours."""

SYNONYMS = tuple(
    frozenset(group.split("/"))
    for group in """
    movie/film/picture buy/purchase/acquire begin/start/commence/launch/found/establish/create/form/originate end/finish/conclude/stop
    located/situated/lies/based big/large/huge/great/vast/major small/little/tiny/minor kid/child/children car/automobile/vehicle
    die/death/dead/dies/pass/deceased wife/husband/spouse/married/marry/marriage/wed born/birth author/writer/write/wrote/written/pen
    release/publish/issue/launch doctor/physician company/firm/business/corporation/enterprise job/work/occupation/profession
    singer/vocalist/sing/sang song/track/single/music band/group country/nation state city/town/village/municipality
    popular/famous/well-known/renowned/known/common popularity/famous use/utilize/employ/using make/produce/manufacture/create
    help/assist/aid/support show/display/demonstrate/reveal need/require/necessary get/receive/obtain give/provide/offer/supply
    people/person/human/individual/population win/won/victory/award/winner fight/battle/war/conflict
    kill/murder/slay/assassinate hurt/injure/harm/damage fix/repair quick/fast/rapid/swift speed
    important/significant/key/crucial/essential/major several/many/numerous/various/multiple type/kind/sort/form/variety
    part/component/portion/element/section member/belong picture/photo/image/photograph show/series/program/programme
    tv/television game/match/play sport/athletic player/athlete team/club student/pupil school/university/college/education
    teacher/instructor/professor food/dish/meal/cuisine eat/consume/consumption drink/beverage animal/creature dog/canine/puppy
    cat/feline horse/equine sea/ocean/marine forest/wood river/stream/water mountain/hill/peak money/fund/cash/payment
    price/cost/fee/charge/expense cheap/inexpensive expensive/costly year/annual/yearly month/monthly week/weekly day/daily
    usa/us/united-states/american/america uk/british/britain/england/english france/french germany/german spain/spanish italy/italian
    china/chinese japan/japanese russia/russian/soviet canada/canadian australia/australian india/indian mexico/mexican
    brazil/brazilian greece/greek/hellenic netherlands/dutch sweden/swedish norway/norwegian denmark/danish finland/finnish
    ireland/irish scotland/scottish wales/welsh poland/polish turkey/turkish egypt/egyptian korea/korean europe/european
    asia/asian africa/african rome/roman portugal/portuguese switzerland/swiss austria/austrian belgium/belgian israel/israeli
    jew/jewish christian/christianity islam/muslim/islamic president/presidential/presidency government/state/federal
    law/legal/legislation leader/head/chief/lead rule/reign/govern king/monarch/royal army/military/force/troop police/officer/cop
    illness/disease/sickness/sick/disorder drug/medicine/medication/pharmaceutical hospital/clinic physician surgery/operation
    baby/infant/newborn old/elderly/ancient/aged young/youth/teen/teenager house/home/residence/dwelling building/structure/edifice
    street/road/avenue journey/trip/travel/voyage fly/flight/airplane/aircraft/plane ship/boat/vessel train/rail/railway/railroad
    increase/rise/grow/growth/gain/climb decrease/fall/decline/drop/reduce/reduction/lower change/alter/modify/adjust
    choose/select/pick/opt choice/option allow/permit/enable/let forbid/prohibit/ban/banned stop/halt/cease prevent/avoid
    say/state/tell/claim/report/announce/declare/mention ask/request/inquire answer/reply/respond/response think/believe/consider
    appear/star/act/actor/actress/role/perform/performance/starring play/portray lead direct/director win earn
    include/contain/comprise/consist/feature/involve/compose composed/made origin/derive/originate/come/ancestry
    world/global/international/worldwide earth/planet sun/solar moon/lunar space/outer star/stellar
    fire/terminate/dismiss hire/recruit/employ boss/manager/supervisor staff/employee/worker customer/client/buyer/user
    contract/agreement delete/remove/erase add/insert/append show/list error/fault/bug/failure setting/option/parameter/configuration
    return/refund/reimburse/reimbursement ship/deliver/delivery/shipping holiday/vacation/leave insurance/coverage/cover/insured
    guarantee/warranty estimate/approximately/about/around/roughly nearly/almost/close beautiful/pretty/attractive
    happy/glad/joy sad/unhappy smart/intelligent/clever hard/difficult/tough easy/simple danger/dangerous/risk/risky/hazard
    safe/safety/secure/security rich/wealthy/wealth poor/poverty strong/powerful/strength/power fight/combat attack/assault/raid
    hit/strike collect/gather build/construct/construction/built design/designer invent/inventor/invention discover/find/found/discovery
    study/research/examine/investigate scientist/researcher science/scientific math/mathematics/mathematical
    color/colour/hue gray/grey center/centre theater/theatre organize/organise/organization/organisation favor/favour
    friend/companion enemy/opponent/rival mother/mom/mum father/dad parent/parental son daughter brother/sister/sibling
    dance/dancer/dancing paint/painter/painting/artist/art run/runner/running swim/swimmer/swimming write writer
    cook/chef/cooking bake/baker/baked grow/cultivate/farm/farming/agriculture agricultural plant/vegetation/crop fruit/vegetable
    """.split()
    if "/" in group
)
"""Groups of words that often stand for one another; a match within a group counts less than the same word."""

CONDITIONS = frozenset(
    "if unless until except provided assuming excluding wenn falls ausser sofern si sauf salvo excepto se tranne exceto als tenzij".split()
)
"""Words that open a condition or an exception."""

STRENGTHENERS = frozenset(
    """
    only all always never every everyone everything none most best first last entirely completely solely exclusively guaranteed
    largest biggest highest oldest greatest must any nobody just alone
    """.split()
)
"""Words that make a statement stronger than its source where the source lacks them."""

FIRST_PERSON = frozenset("i im ive id ill me my mine we our us weve were".split())

CHATTER = frozenset(
    """
    yes yeah yep yup oh ah wow haha lol hmm hey hi hello sure okay ok cool awesome nice great thanks thank sorry please really definitely
    absolutely guess think know sure hope love loved like liked enjoy enjoyed favorite favourite interesting agree believe heard wish
    """.split()
)

IRREGULAR = dict(
    pair.split(":")
    for pair in """
    won:win wrote:write written:write began:begin begun:begin made:make took:take taken:take gave:give given:give went:go gone:go
    held:hold led:lead sold:sell bought:buy built:build known:know knew:know children:child men:man women:woman people:person
    feet:foot teeth:tooth mice:mouse came:come became:become found:find left:leave lost:lose met:meet paid:pay ran:run said:say
    saw:see seen:see sent:send spoke:speak spoken:speak spent:spend stood:stand taught:teach thought:think told:tell wore:wear worn:wear
    drove:drive driven:drive ate:eat eaten:eat fell:fall fallen:fall felt:feel flew:fly flown:fly fought:fight grew:grow grown:grow
    kept:keep meant:mean rose:rise risen:rise sang:sing sung:sing shot:shoot showed:show shown:show stole:steal swam:swim threw:throw
    thrown:throw chose:choose chosen:choose broke:break broken:break brought:bring caught:catch drew:draw drawn:draw dealt:deal
    hid:hide hidden:hide laid:lay lived:live lives:live wives:wife leaves:leave countries:country bigger:big biggest:big
    """.split()
)
"""Irregular form to its base form."""

NUMBER_WORDS = {
    word: value
    for value, words in enumerate(
        """
        zero/null/cero one/eins/uno two/zwei/deux/dos/due/dois/twee three/drei/trois/tres/tre/drie four/vier/quatre/cuatro/quattro/quatro
        five/funf/cinq/cinco/cinque/vijf six/sechs/seis/sei/zes seven/sieben/sept/siete/sette/sete/zeven eight/acht/huit/ocho/otto/oito
        nine/neun/neuf/nueve/nove/negen ten/zehn/dix/diez/dieci/dez/tien eleven/elf/onze twelve/zwolf/douze/doce/dodici/doze/twaalf
        thirteen/dreizehn fourteen/vierzehn fifteen/funfzehn/quinze sixteen/sechzehn seventeen/siebzehn eighteen/achtzehn nineteen/neunzehn
        twenty/zwanzig/vingt/veinte/venti/vinte/twintig
        """.split()
    )
    for word in words.split("/")
} | {
    word: value
    for value, words in (
        (30, "thirty/dreissig/trente/treinta/trenta/trinta/dertig"),
        (40, "forty/vierzig/quarante/cuarenta"),
        (50, "fifty/funfzig/cinquante/cincuenta"),
        (60, "sixty/sechzig/soixante/sesenta"),
        (70, "seventy/siebzig"),
        (80, "eighty/achtzig"),
        (90, "ninety/neunzig"),
    )
    for word in words.split("/")
}
NUMBER_SCALES = {
    "hundred": 1e2,
    "hundert": 1e2,
    "thousand": 1e3,
    "tausend": 1e3,
    "mille": 1e3,
    "mil": 1e3,
    "k": 1e3,
    "million": 1e6,
    "millions": 1e6,
    "millionen": 1e6,
    "mio": 1e6,
    "millones": 1e6,
    "mn": 1e6,
    "billion": 1e9,
    "billions": 1e9,
    "bn": 1e9,
    "milliarde": 1e9,
    "milliarden": 1e9,
    "milliards": 1e9,
    "trillion": 1e12,
    "万": 1e4,
    "萬": 1e4,
    "億": 1e8,
    "亿": 1e8,
    "만": 1e4,
    "억": 1e8,
    "千": 1e3,
}

_UNITS: tuple[tuple[str, str, float], ...] = (
    ("ratio", "% percent percentage prozent pourcent procent 퍼센트", 0.01),
    ("time", "ms millisecond milliseconds", 1e-3),
    ("time", "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos secondi 秒 초", 1.0),
    ("time", "min mins minute minutes minuten minuto minutos minuti minuut 分 分钟 分鐘 分間 분", 60.0),
    ("time", "h hr hrs hour hours stunde stunden heure heures hora horas ora ore uur 小时 小時 時間 시간", 3600.0),
    ("time", "day days tag tage tagen jour jours dia dias giorno giorni dag dagen 天 日 日間 일", 86400.0),
    ("time", "week weeks woche wochen semaine semaines semana semanas settimana settimane weken 周 週間 주", 604800.0),
    ("months", "month months monat monate monaten mois mes meses mese mesi maand maanden 个月 個月 か月 ヶ月 개월", 1.0),
    ("months", "year years yr yrs jahr jahre jahren an ans annee annees ano anos anno anni jaar 年 年間 년", 12.0),
    ("months", "decade decades", 120.0),
    ("months", "century centuries", 1200.0),
    ("length", "mm millimeter millimeters millimetre millimetres", 1e-3),
    ("length", "cm centimeter centimeters centimetre centimetres", 1e-2),
    ("length", "m meter meters metre metres 米", 1.0),
    ("length", "km kilometer kilometers kilometre kilometres 公里", 1e3),
    ("length", "inch inches", 0.0254),
    ("length", "ft foot feet", 0.3048),
    ("length", "mile miles mi", 1609.344),
    ("mass", "mg milligram milligrams", 1e-6),
    ("mass", "g gram grams gramm gramme grammes", 1e-3),
    ("mass", "kg kilo kilos kilogram kilograms 公斤", 1.0),
    ("mass", "t ton tons tonne tonnes", 1e3),
    ("mass", "lb lbs pound pounds", 0.45359237),
    ("mass", "oz ounce ounces", 0.028349523125),
    ("volume", "ml milliliter milliliters millilitre millilitres", 1e-3),
    ("volume", "l liter liters litre litres", 1.0),
    ("data", "kb kilobyte kilobytes", 1e3),
    ("data", "mb megabyte megabytes", 1e6),
    ("data", "gb gigabyte gigabytes", 1e9),
    ("data", "tb terabyte terabytes", 1e12),
    ("dollars", "$ usd dollar dollars", 1.0),
    ("euros", "€ eur euro euros", 1.0),
    ("pounds", "£ gbp", 1.0),
    ("yen", "¥ jpy yen 円", 1.0),
    ("yuan", "cny rmb yuan 元", 1.0),
    ("temperature", "°c celsius", 1.0),
    ("fahrenheit", "°f fahrenheit", 1.0),
)
UNITS = {name: (dimension, factor) for dimension, names, factor in _UNITS for name in names.split()}
"""Unit as written to its dimension and the factor to the dimension's base unit."""
