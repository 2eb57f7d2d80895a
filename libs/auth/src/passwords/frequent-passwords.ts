/* eslint-disable max-lines */
/*!
 * Written by scripts/frequent-passwords.mjs from a list of passwords that Mark Burnett released to
 * the public domain, in the version of SecLists (https://github.com/danielmiessler/SecLists).
 * SHA-256 of the list:
 * eac6323842b3261da0ef4c180c8e23f4d056522ea97c2925b8687f453b40a2be
 *
 * MIT License
 *
 * Copyright (c) 2025 Daniel Miessler
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
 * associated documentation files (the "Software"), to deal in the Software without restriction, including
 * without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
 * copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
 * following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or substantial
 * portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
 * LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO
 * EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER
 * IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR
 * THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */

/**
 * Leaked passwords, the most frequent first. For each minimum length of 8 or more characters,
 * contains the 3,000 most frequent passwords of at least that length. From a minimum length of 18,
 * the source list has fewer, and all are included. Common phrases that the source list lacks follow at
 * the end. The passwords are in lower case, with a space before and after each.
 */
export const FREQUENT_PASSWORDS: string = ` \
password 12345678 123456789 baseball football qwertyuiop 1234567890 superman 1qaz2wsx trustno1 jennifer sunshine \
iloveyou starwars computer michelle 11111111 princess 987654321 corvette 1234qwer 88888888 q1w2e3r4t5 internet \
samantha whatever maverick steelers mercedes 123123123 qwer1234 hardcore q1w2e3r4 midnight bigdaddy victoria 1q2w3e4r \
cocacola marlboro asdfasdf 87654321 12344321 jordan23 jonathan liverpoo danielle abcd1234 scorpion qazwsxedc \
password1 slipknot qwerty123 startrek 12341234 redskins butthead asdfghjkl qwertyui liverpool dolphins nicholas \
elephant mountain xxxxxxxx 1q2w3e4r5t metallic shithead benjamin creative rush2112 asdfghjk 4815162342 passw0rd \
bullshit 1qazxsw2 garfield 01012011 69696969 december 11223344 godzilla airborne lifehack brooklyn platinum darkness \
blink182 789456123 12qwaszx snowball pakistan redwings williams nintendo guinness november minecraft asdf1234 \
lasvegas babygirl dickhead 12121212 147258369 explorer snickers metallica alexande paradise michigan carolina \
lacrosse christin kimberly kristina 0987654321 poohbear bollocks qweasdzxc drowssap caroline einstein spitfire \
maryjane 1232323q champion svetlana westside courtney 12345qwert patricia aaaaaaaa anderson security stargate \
simpsons scarface 123456789a 1234554321 cherokee usuckballz1 veronica semperfi scotland marshall qwerty12 98765432 \
softball passport franklin alexander 55555555 zaq12wsx infinity kawasaki 77777777 vladimir freeuser wildcats budlight \
brittany 00000000 bulldogs swordfis patriots pearljam colorado ncc1701d motorola logitech juventus wolverin warcraft \
hello123 peekaboo 123654789 panthers elizabet spiderma virginia valentin predator mitchell 741852963 1111111111 \
rolltide changeme lovelove fktrcfylh loverboy chevelle cardinal michael1 147852369 american alexandr electric \
wolfpack spiderman darkside 123456789q 01011980 freepass 99999999 fyfcnfcbz airplane 22222222 1029384756 cheyenne \
billybob lawrence pussycat 01012000 chocolat business cjkysirj 123qweasd stingray serenity greenday charlie1 firebird \
blizzard a1b2c3d4 sterling password123 hercules tarheels remember basketball zeppelin swimming pavilion engineer \
bobafett 21122112 darkstar icecream hellfire fireball rockstar defender swordfish airforce abcdefgh srinivas bluebird \
presario wrangler precious harrison goldfish soso123aljg dbrnjhbz thailand longhorn 123qweasdzxc wordpass 31415926 \
999999999 letmein1 assassin testtest microsoft devildog valentina butterfly lonewolf babydoll atlantis montreal \
angelina shamrock hotstuff mistress deftones cadillac blahblah birthday 1234abcd 01011990 cavalier veronika qazwsx123 \
mustang1 goldberg 12345678910 wolfgang savannah leonardo basketba cristina aardvark sweetpea 13131313 freedom1 \
fredfred manchester kathleen hamilton fuckyou2 renegade drpepper bigboobs 1qaz2wsx3edc christia buckeyes 0123456789 \
stephani enterpri diamonds wetpussy morpheus 66666666 pornstar thuglife napoleon highland chandler trfnthbyf consumer \
welcome1 123qwe123 wrinkle1 51505150 11235813 butterfl elizabeth sherlock marathon access14 overlord trombone \
isabelle barcelona babylon5 ultimate yankees1 superfly campbell geronimo concrete q1w2e3r4t5y6 jessica1 123454321 \
portugal sundance pleasure seminole isabella 14789632 qazxswedc kingkong adgjmptw ncc1701e mongoose alejandr \
1123581321 margaret bluemoon ghbdtnbr bonehead stallion personal morrison super123 anything aleksandr rhbcnbyf \
dietcoke cooldude christop lollipop fernando christian letmein2 01012010 werewolf punkrock giovanni cdtnkfyf tottenha \
hongkong blackcat a1234567 zzzzzzzz hollywoo florence gn56gn56 clifford stocking matthew1 immortal 44444444 makaveli \
sebastia ilovesex charlott anthony1 111222333 satan666 columbia infantry eternity waterloo vanhalen skywalke seinfeld \
standard squirrel qazwsxed fuckfuck wolverine robinson musicman megadeth verbatim 1q2w3e4r5t6y twilight fuckyou1 \
stardust showtime 147896325 skittles shaney14 qwerty12345 123321123 intrepid sandiego punisher 1234567a dingdong \
192837465 starcraft mushroom blackdog 25802580 slapshot ekaterina 123698745 1234512345 chargers 33333333 warriors \
raistlin gangster coltrane tacobell portland penelope 1a2b3c4d 19841984 12369874 stranger mailcreated5240 halflife \
qwerasdf playtime kangaroo blackman panasonic christine beautiful spanking meridian lonestar kittycat goodluck \
barcelon scoobydo crusader 12312312 hannibal guardian fuckface discover catalina 1122334455 californ angelica \
william1 stonecol johnjohn septembe scarlett santiago lowrider anastasia vacation sithlord ragnarok keyboard 19921992 \
11112222 penguins nuttertools lorraine dkflbvbh titleist rootbeer magnolia dodgeram creampie aspirine socrates \
1234567q redalert qqqqqqqq munchkin mersedes imperial blueeyes bigballs zaq1xsw2 sebastian research national colombia \
01012001 rammstein katerina freckles caliente director qazwsxedcrfv oblivion mustangs margarita deadhead zxcv1234 \
porkchop grateful fuck_inside formula1 a1s2d3f4 23232323 shopping peterpan martinez justdoit goodtime alexandra \
thankyou springer software sapphire richmond kingston brucelee thunder1 qawsedrf plymouth mariners heather1 chelsea1 \
123456qwerty spectrum pineappl labrador 1234567890q 10101010 stephanie commando amsterdam webmaster southern lesbians \
fletcher thompson candyman aquarius starfish monopoly infiniti gangbang blackjac 8j4ye3uz 19871987 0000000000 \
sailboat richard1 godsmack emmanuel cosworth 19891989 rosemary lightnin chevrole catherin qwerty123456 frontier \
asshole1 01011991 spartans luckydog 15426378 swingers snuggles qwertyuio qwert123 mandingo ihateyou beefcake beatrice \
111111111 whocares scooter1 doberman clitoris 5555555555 dannyboy children viktoria valhalla terminator oklahoma \
ncc1701a keystone clarence bunghole 19751975 romashka pa55word golfball doughboy charlotte achilles patrick1 gateway1 \
deeznuts cowboys1 9876543210 vkontakte phillies jeremiah dilligaf atlantic 19851985 vfrcbvrf technics stripper \
september pinkfloy maryland kentucky hastings frederic butthole agent007 19911991 01011985 somethin porsche9 hurrican \
california bearbear 73501505 nathalie microlab function flamingo enterprise 19941994 19781978 01011970 truelove \
nebraska meatball brothers syracuse military macdaddy diamond1 warhammer universe sentinel manchest kamikaze handsome \
dthjybrf designer blueblue australia 321654987 1qaz1qaz 01011981 pokemon1 pantyhos eatpussy 19861986 01011986 \
superstar ssssssss rjirfrgbde meatloaf lifetime jamesbon 123456789z woofwoof turkey50 rfnthbyf front242 apollo13 \
terminal starbuck lancelot gordon24 brandon1 bigmoney azsxdcfv rightnow maradona lionking crazybab charlton 19931993 \
19901990 poiuytrewq passwort japanese holyshit bradford 21212121 wildfire sexygirl poontang microsof chocolate \
chickens arsenal1 19831983 happyday aberdeen 19951995 13243546 123456aa treasure theodore raiders1 gretchen ericsson \
albatros 1passwor 0.0.0.000 zxcasdqwe sojdlg123aljg sexsexsex mikemike michaela jackson1 excalibu anhyeuem 78945612 \
trinidad pooppoop greenbay greatone fordf150 applepie 963852741 18436572 lisalisa hardrock dinosaur rastaman pa55w0rd \
madeline hollywood hellyeah columbus skywalker rockhard positive melissa1 kcj9wx5n hyperion happy123 gotohell \
football1 february abc12345 609609609 yosemite roadkill kingfish billyboy 1qa2ws3ed 123789456 tunafish starship \
saratoga robotech rasputin rangers1 passwords p0015123 nwo4life megapass kenworth hedgehog davidson anaconda 20102010 \
12131415 vladislav translator splinter richards phoenix1 karolina 789789789 railroad pingpong magicman killbill \
01011989 wrestlin tommyboy sherwood passpass pass1234 majestic fuckthis freeporn crawford bangbang asdasdasd umbrella \
salvador operator jeanette gggggggg fktrcfylhf deepthroat cinnamon chester1 broadway 01011988 underdog sunnyday \
snoopdog multiplelo jasmine1 chemical chainsaw catherine canadian brighton australi alliance 19721972 19691969 \
supersta snowboar r2d2c3po mechanic mamapapa golfgolf ghjcnjnfr downtown christopher chicken1 bullseye 20002000 \
skorpion saturday peterson meredith lkjhgfdsa eastside blackhaw backdoor westwood sneakers passwor1 marino13 \
jamesbond getmoney flounder boomboom beerbeer apple123 01011987 01011984 undertaker sinclair samsung1 moneyman \
mmmmmmmm marianne jjjjjjjj gargoyle federico amsterda 1x2zkg8w 19881988 19741974 zerocool vfvfgfgf test1234 idontknow \
hahahaha cambiami a123456789 19731973 03082006 02071986 vfhufhbnf pppppppp motherlode lokomotiv kristine goldstar \
christina chrisbln america1 20012001 12345678q whitesox titanium thursday thirteen tazmania starfire qwerqwer \
qazwsx12 panasoni paintbal newcastl hotpussy giuseppe buckshot babyblue attitude 10203040 01011910 sunflowe solution \
phillips knickers godfather clarinet assholes 12345679 tomorrow southpark sersolution rhfcjnrf qwerty1234 paintball \
montgom240 johannes intruder gesperrt francois dkflbckfd dfktynbyf christie callaway 19821982 19811981 12qw34er \
123qwerty salamander resident poseidon pianoman chuckles avalanch 1q2w3e4r5 superman1 rockford qwertyqwerty meowmeow \
meathead budweise 19411945 14725836 01091989 01011992 triangle thanatos runescape gladiator crjhgbjy barefoot \
25252525 02071982 zxcvbnm1 viewsonic traveler together spongebob original mohammed medicine mazafaka juliette \
james007 hawkeyes deeznutz cerberus 135792468 12345qwe 01234567 01011975 zxasqw12 terrapin something philippe \
overkill monalisa illusion hoosiers hayabusa gfhjkm123 francesc confused clevelan 123456654321 01011993 tttttttt \
smeghead moonlight megatron cfitymrf casanova blackjack blablabla bbbbbbbb 12301230 syncmaster rhiannon lightning \
dddddddd brewster bookworm blessing babybaby aleksandra 19961996 19791979 02091987 02021987 valencia thegreat \
packers1 newpass6 dutchess charles1 alphabet 19801980 02081988 02051986 02041986 02011985 01011977 roadrunn \
rjycnfynby rhtdtlrj mortgage goldwing christmas andromeda adrienne 12345678a 12011987 02101985 02031986 02021988 \
wrestling tinkerbell teddybea sinister shannon1 motherfucker mortimer madison1 handyman ghostrider doghouse balloons \
24682468 02061985 02011987 wareagle roadking realmadrid polniypizdec0211 nokia6300 idontkno gameover claymore \
chicago1 blackbir bcfields 1357924680 02091986 02021986 01011983 whiskers valkyrie talisman starcraf sporting \
spaceman southpar lipstick kittykat inuyasha babyface 7ugd5hip2j 02081987 02081984 02061986 02021984 01011982 \
strength seahawks recovery qweqweqwe playstation leavemealone hardcock florida1 flexible dragonball checkers charlene \
beautifu baseball1 02031984 02021985 thedoors sullivan stanford mollydog illinois ghblehjr gamecube cannabis cameltoe \
bitchass armagedon alexalex 987456321 21031988 123qq123 1234567890a 02081989 02011986 01020304 01011999 wishbone \
matthews mandarin lalalala godfathe gabriela ffffffff bluefish binladen 19771977 19761976 02061989 02041984 tottenham \
tiberius teddybear silverad northern microphone electron dirtbike deadpool carpedie asdfzxcv amateurs absolute \
50spanks 02021983 vampires shanghai property password2 netscape kakashka hawaiian gfhjkmgfhjkm fyutkbyf digital1 \
caligula blackout 15151515 123456qw 1234567891 02051983 02041983 02031987 02021989 z1x2c3v4 vsjasnel12 testpass \
stonecold soulmate q2w3e4r5 millions lineage2 fuckoff1 friendly fgtkmcby criminal coldbeer capslock bullfrog bobdylan \
babylove argentina annabell 11221122 02081986 02041988 02041987 02041982 02011988 yeahbaby vasilisa sergeant reynolds \
newyork1 magazine llllllll katherine jayhawks fishing1 dragon12 abnormal 09876543 02101984 02081985 02071984 02011980 \
01011979 wg8e3wjf shitface salasana rebecca1 pussyman pringles preacher heineken gatorade gabriell ferrari1 eldorado \
coolness 14141414 02021982 thunderb telephon specialk shepherd patience paranoid monster1 missouri masamune mamamama \
laurence hopeless farscape estrella eastwood dragonba crystal1 corleone chevrolet carlitos buttercu buddyboy 24242424 \
12365478 02061988 02031985 yfcntymrf winston1 slippery sandwich piramida monkey12 millwall magician jackson5 insomnia \
hardware fountain fastball elizaveta borussia andromed alejandro 1234asdf 02081982 02051982 windsurf wildcard \
universal sunflower strawberry reddevil pornporn polopolo pinkfloyd panther1 jiggaman islander inspiron green123 \
cristian 1a2s3d4f 123456qwe 02061980 02031982 02011984 zaqxswcde washington violetta smashing sexysexy robotics \
rjhjktdf reckless nightmare knockers killkill katherin jellybea hhhhhhhh gandalf1 download doomsday devil666 darklord \
classics chrysler browning barbados 9293709b13 20202020 02091983 02061987 01081989 yjdsqgfhjkm snowboard scrabble \
rhjrjlbk rainbow6 qazwsxedc123 pharmacy nevermind mariposa jakejake insanity graphics geoffrey firewall fandango \
augustus ashleigh 321321321 12051988 05051987 02101989 02101987 02071987 02071980 02041985 sweetnes stanislav \
scorpio1 rochelle radiohea pumpkins mobydick longjohn iverson3 istanbul highheel happiness gamecock faithful creature \
creation concorde budapest 19711971 134679852 02091984 02091981 02091980 02061983 02041981 01011900 windmill \
webhompas thisisit spongebo senators sausages pineapple nygiants moonbeam marcello maksimka loveless lollypop \
kleopatra katarina icehouse hooligan gertrude fullmoon fuckinside dynamite buttfuck bulldog1 brittney aviation \
22041987 20022002 05051985 02081977 02071988 02051988 02051987 02041979 webmaste radiohead platypus monkeybo master12 \
heritage good123654 festival evolution dolphin1 cccccccc a12345678 26061987 15051981 08031986 02061984 02061982 \
02051989 02051984 02031981 woodland whiteout vanguard temppass reddwarf pussy123 forsaken ferguson earnhard coolcool \
7894561230 21031987 13041988 11051987 10011986 06061986 02091985 02021981 02021979 01031988 tiger123 summer99 \
starstar snowflak slamdunk playboy1 michael2 mephisto kkkkkkkk kjrjvjnbd killer12 iloveyou2 holidays harrypotter \
gorgeous dudedude andersen 02101986 02081983 02041989 02011989 01011978 zxcvbnm123 volkswag solitude scoobydoo \
roadster presiden pool6123 playstat pipeline mypassword mazdarx7 lemonade krasotka koroleva irishman hawaii50 \
gabriel1 freefree francesco christma chipmunk brigitte bigblock bergkamp bearcats 74108520 45m2do5bs 30051985 \
24061986 22021989 21011989 20061988 1z2x3c4v 14061991 13041987 12021988 11081989 03041991 02071981 02031979 02021976 \
01061990 01011960 yankees2 wireless tiffany1 starligh register pallmall nascar24 mudvayne monsters mckenzie mazda626 \
kisskiss gonzalez gbhfvblf freebird fantasia comanche choochoo chambers borabora asdfgh01 alessandro abrakadabra \
7777777777 23456789 23041987 19701970 18011987 123456789s 07071987 02091989 02071989 02071983 02021973 02011981 \
01121986 01071986 yogibear wanderer viktoriya undertak underground tropical threesom slowhand sheridan marianna \
kissmyass just4fun ghjcnjgfhjkm fishhead firefire excalibur customer cocksuck cameron1 berkeley andyod22 28041987 \
25081988 24011985 20111986 19651965 19101987 19061987 14111986 13031987 123456123 12121990 10071987 10031988 02101988 \
02081980 02021990 01091987 01041985 01011995 zanzibar training sweetness president password12 lovelife longdong \
johndeer jefferso james123 jackjack fishbone drummer1 coventry catwoman 28021992 25800852 22011988 19971997 17051988 \
14021985 13061986 12121985 11061985 10101986 10051987 10011990 09051945 08121986 04041991 03041986 02101983 02101981 \
02031989 02031980 01121988 survivor sundevil straight revolver qwerty11 qweasd123 paradigm nonenone michaels \
ghjuhfvvf fairlane everlast chestnut broncos1 antelope anastasiya 456456456 30041986 29071983 29051989 29011985 \
28021990 28011987 27061988 25121987 25031987 22021986 21031990 20091991 20031987 19681968 17061988 16051989 16051987 \
11051990 08051990 05051989 04041988 02051980 02051976 02041980 02031977 02011983 01061986 01041988 01011994 \
zxcasdqwe123 washburn vfitymrf soccer12 soccer10 smirnoff sasha_007 rrrrrrrr qwert12345 pumpkin1 porsche1 noname123 \
newcastle marseille marjorie hurricane honolulu highbury gilligan eeeeeeee death666 costello baritone 31011987 \
30031988 22071986 21101986 21051991 20091988 20051988 19661966 18091985 18061990 15101986 15051990 15011987 13121985 \
12qw12qw 12031987 12031985 11121986 08081988 08031985 03031986 02101979 02071979 02071978 02051985 02051978 02051973 \
02041975 02041974 02031988 02011982 01031989 01011974 wwwwwwww wildwood wildbill superior stefanie sidekick remingto \
redbaron question moonligh mischief ministry minemine kordell1 knuckles fuckhead freefall fantomas elcamino coldplay \
clippers carpente capricorn calimero bluesman bluebell armstron angelika angel123 30041987 27081990 26031988 25091987 \
25041988 24111989 23021986 22041988 22031984 21051988 17011987 16121987 15021985 14021986 13021990 123456ru 10101990 \
10041986 07091990 02051981 01031985 01021990 zildjian wp2003wp valentine trinitro swinging rfvfcenhf pufunga7782 \
palmtree nostromo johngalt iloveyou1 foxylady fishfish fearless enforcer david123 cutiepie cheshire cherries capricor \
blueball blowfish 31031988 25091990 25011990 24111987 23031990 22061988 21011991 21011988 19283746 19031985 19011989 \
18091986 17111985 16051988 15071987 14081985 13071984 12081985 11021985 10071988 09021988 05061990 02051972 02041978 \
02031983 01091985 01031984 01012009 yamahar1 whistler vjqgfhjkm universa strawber sprinter spencer1 sonyfuck \
slimshady screamer papillon oooooooo marcius2 lalakers lakeside jermaine honeybee highlander ghbywtccf ghbdtn123 \
earthlink cygnusx1 cleopatr carnival buddy123 arkansas anastasi 30081984 25101988 23051985 23041986 23021989 22121987 \
22091988 22071987 22021988 20052005 19051987 15041988 15011985 14021990 14011986 13051987 13011988 13011987 12061988 \
12041988 12041986 11071988 11031988 10081989 08081986 07071990 07071977 05071984 04041983 03021986 02091988 02081976 \
02051977 02031978 01071987 01041987 01011976 zachary1 wrestler vendetta tkbpfdtnf terminat telephone smackdow \
sandrine qwe123qwe opendoor nautilus mustang6 misfit99 marseill magellan leedsutd jackass1 hounddog hetfield gtnhjdbx \
ghhh47hj7649 fkbyjxrf espresso dontknow dogpound complete bismillah argentin 30041985 29071985 29061990 27071987 \
27061985 27041990 26031990 24031988 23051990 22011986 21061986 20121989 20092009 20091986 20081991 20041988 20041986 \
19671967 19121989 19061990 18101987 18051988 18041986 18021984 17101986 17061989 17041991 16021990 15071988 15071986 \
14101987 135798642 13061987 1234zxcv 12071989 11121985 11061991 10121987 10101985 10031987 09041987 09031988 06041988 \
05071988 03081989 02071985 02071975 01051989 01041992 01041990 whiteboy waterboy vikings1 viewsoni penguin1 optimist \
moonshin mcdonald limewire konstantin jonathon johncena intercourse harddick gladiato fortress clarissa capetown \
camaross callisto bigpoppa alexandre 9999999999 30011985 29051985 26061985 25111987 25071990 22081986 22061989 \
21061985 20082008 20021988 19981998 16051985 15111988 15051985 15021990 14041988 12345qwerty 12121988 12051990 \
12051986 12041990 11091989 11051986 11051984 10061986 06081987 06021987 04041990 02081981 02061977 02041977 02031975 \
01121987 01061988 01031986 01021989 01021988 university trucking transfer tomahawk suckmydick suburban stratfor \
shadow12 private1 printing pentagon notebook nokian73 matthias marijuan mandrake mamacita kayleigh hotgirls \
hellokitty hallo123 funstuff fredrick firefigh eggplant dfktynby derparol cleopatra cbr900rr barselona asdqwe123 \
almighty absolutely 29061989 28051987 27081986 25061985 25011986 24091986 24061988 24031990 21081987 21041992 \
20031991 19061985 18111987 18021988 17071989 17031987 16051990 15021986 14031988 14021987 14011989 11011990 10011983 \
09021989 07051990 06051986 05091988 05081988 04061986 04041985 03041980 02101976 02071976 02061976 02011975 01031983 \
washingt warrior1 username tinkerbe suckdick southpaw sexylady rocknrol rfhnjirf progress obsidian nirvana1 nineinch \
navigator money123 modelsne minimoni millenium marriage marines1 marijuana htubcnhfwbz heinrich handball facebook \
dominion darkangel cricket1 chris123 challeng bubba123 bluejays antonina 28051986 28021985 27031989 26021987 25101989 \
25061986 25041985 25011985 24061987 23021985 23011985 22121986 22121983 22081983 22071989 22061987 22061941 22041986 \
22021985 21021985 20031988 19101990 19071988 19071986 18061985 18051990 17071985 16111990 16061986 16011989 15081991 \
15051987 14071987 13031986 12101988 12081984 12071987 11121987 11081987 11071985 11011991 08071987 08061987 05061986 \
04061991 03111987 03071987 02091976 02081979 02041976 02031973 02021991 02021980 02021971 whatwhat vqsablpzla \
theforce sylveste stephane sheepdog services roadrunner republic paramedi masterbate margarit ilikepie homework \
hattrick hardball goodgirl friendster flipflop f00tball evolutio dukeduke cucumber cnfybckfd chiquita castillo \
bigdicks 31121990 30121987 29121987 29111989 29081990 29081985 29051990 27272727 27091985 27031987 26031987 26031984 \
24051990 23061990 22061990 22041985 22031991 22021990 21111985 21041985 20021986 19071990 19051986 19011987 17171717 \
17061986 17041987 16101987 16031990 15091987 15081988 15071985 15011986 14101988 14071988 14051990 14021983 13111990 \
12121987 12121982 12061986 12011989 11111987 11081990 10111986 10031991 09090909 08051987 08041986 05051990 04081987 \
04051988 03061987 03031993 03031988 02101980 02101977 02091977 02091975 02061979 02051975 01081990 01061987 01011971 \
toriamos taekwondo sonyericsson slimshad skateboard riccardo rfntymrf prospect penetration peaches1 nokia6233 \
nightwish maxwell1 mash4077 lakewood krokodil hairball evangelion dolemite cromwell cassandr cabernet budweiser \
bastards azertyui aolsucks 45454545 31011990 29011987 28071986 28021986 27051987 27011988 26051988 26041991 26041986 \
25011993 24121986 24061992 24021991 24011990 23051986 23021988 23011990 21121986 21111990 21071989 20071986 20051985 \
20011989 19111987 19091988 18041990 18021986 18011986 17101987 17091987 17021985 17011990 16061985 15051986 14881488 \
14121989 14081988 14071986 13111984 12121989 12101985 12051985 11071986 11011987 10293847 10081985 10061987 10041983 \
07091982 07081986 06061987 06041987 06031983 04091986 03071986 03051987 03051986 03031990 03011987 02101978 02091973 \
02081974 02071977 02071971 0192837465 01051988 01051986 01011973 vauxhall vancouve touching tokiohotel supernov \
speakers spartan1 sigmachi rocknroll rainyday q123456789 puppydog power123 poiuytre phialpha penthous pavement \
nthvbyfnjh nnnnnnnn mulligan mississippi lonesome lighting klondike kazantip ironmaiden homemade herewego gonzales \
goldfing genesis1 fyfnjkbq forgetit flamengo favorite6 exchange enternow dodgers1 delaware darkange commande cashmone \
bordeaux billabon benessere awesome1 asdffdsa archange annmarie ambrosia alleycat aaaaaaaaaa 43214321 369258147 \
31121988 31121987 30061987 30011986 29041985 28121984 28061986 28041992 28031982 27111985 27021991 26111985 26101986 \
26091986 26031986 25021988 24111990 24101986 24071987 24011987 23051991 23051987 23031987 22071983 22051986 21101989 \
21071987 21051986 20081986 20061986 20031986 20021985 20011988 19641964 19111986 19101986 19021990 18051987 18031991 \
18021987 16111982 16011987 15111984 15091988 15061988 15031988 15021983 14021989 14011988 14011987 12348765 12345qaz \
12111990 12091988 12051989 12051987 12031988 12021985 12011985 11111986 11091984 11071989 10071985 10061984 10041990 \
10031989 10011988 06071983 05021988 03041987 02091982 02091971 02061974 02051990 02051979 02011990 01051990 01021985 \
woodstoc wonderful whiplash trouble1 testing1 summer69 stickman stafford speedway somerset smoothie segblue2 scheisse \
revolution rainbows pornking pimpdadd pasadena p0o9i8u7 navyseal longhair lokiloki lkjhgfds kamasutra gsxr1000 \
gannibal daylight cornwall cocksucker carebear austin31 adrenalin 789654123 5wr2i7h8 31031987 30111987 30071986 \
30061983 30051989 30041991 28071987 28051990 28051985 27041985 26071987 26061986 26051986 25121985 25051985 24081988 \
24041988 24031987 24021988 23skidoo 23121986 23091987 23071985 23061992 22111985 22091986 22081991 22071990 22061985 \
21081985 21071992 21021987 20101988 20061984 20051989 20041990 19091990 19031987 18121984 18081988 18061991 18041991 \
18011988 17061991 17021987 16031988 16021987 15091989 15081990 15071983 15041987 14091990 14081990 14041992 14041987 \
14031989 13081985 13021987 123qwert 12345qwer 12345abc 123456789m 1212121212 12081983 12021991 11101986 11081988 \
11061989 11041991 11011989 10121986 10121985 10101989 10041991 09091986 09081988 09051986 08071988 08011986 07101987 \
07071985 06061985 06011988 05031991 05021987 04061984 04051985 02101973 02061981 02061972 02041973 02011979 01101987 \
01051985 01021987 wonderboy voyager1 vagabond toonarmy thrasher stigmata smackdown sexybabe sergbest scrapper \
sammy123 reginald rainbow1 pictures peterbil perfect1 pantera1 p4ssw0rd normandy nevermore luckyone kirkland junkmail \
josephin johnson1 futurama fireblad fellatio dragonfl dragon69 crackers cartoons buttercup blue1234 31101987 31051985 \
30121986 30091989 30031992 30031986 30011987 29061988 29061985 29031988 28061988 27061983 27031986 27021990 26101987 \
26071989 26071986 25081986 25061987 25051987 25041991 24101989 24071991 23111987 23091986 23051983 23031986 \
2222222222 22121989 22071991 22051991 22011985 21121985 21031985 20121988 20121986 20061990 20051987 19091983 \
19061992 19021991 18121987 18121983 18111986 16121986 16091987 16071991 16071987 15111989 15031990 14041986 13121983 \
13101987 13091984 13071990 123456789qwe 1234567899 12211221 12121991 12121986 12101990 12101984 12091991 12081988 \
12071990 12071988 11041990 10081990 10081983 10071990 10061989 10011992 09111987 09081985 08121987 08111984 08101986 \
08051989 07091988 07081987 07071988 07071984 07071982 07051987 06031992 05111986 05051991 05031990 05011987 04111988 \
04061987 04041987 02081973 02061978 02031991 02031990 02011976 01071984 01041980 01021992 zaqwsxcde yyyyyyyy warhamme \
velocity tigercat sunlight streaming sonysony sabrina1 romantic rockwell q1234567 plastics pinnacle pathetic pancakes \
offshore nounours ncc74656 natasha1 mynameis motocros letsdoit kristian fyutkjxtr francisc dreamcas dragster destiny1 \
delpiero daisydog colonial cannibal candyass bynthytn bigbooty azertyuiop amethyst acidburn 66613666 44332211 \
31071990 31051993 30051987 30011990 29091987 29061986 29011982 28101986 28081990 28081986 28011988 27111989 27031992 \
27021992 26081986 25081985 25031991 25031983 24121987 24091991 23111989 23091989 23091985 23061989 22091991 22071985 \
22071984 22061984 22051989 22051987 22031986 22011992 21061988 21031984 20071988 20061983 20041985 1qazzaq1 \
1qazxsw23edc 19991999 19061991 18101985 18051989 18031988 18021992 18011985 17051990 17051989 17051987 17021989 \
16091988 16081986 16061988 16061987 15121987 15091985 15081986 15061985 15011983 14101986 13071987 13061985 13021985 \
123456qqq 123456789d 1234509876 12131213 12111991 12111985 12081990 12081987 12071991 11071987 11051988 11031983 \
10091984 10071989 10071986 10061985 10051990 10041987 10031993 10031990 09091988 09051987 09041986 08081990 08081989 \
08021990 07101984 07071989 07041987 07031989 07021991 06061981 06021986 05121990 05061988 05031987 04071988 04071986 \
04041986 03101991 03091983 03051988 03041983 03031992 02081970 02061971 02051970 02041972 02031974 02021978 02011977 \
01121990 01091992 01081992 01081985 01011972 vipergts vfntvfnbrf supernova stephen1 sparkles snowbird singapor \
scissors pressure playball pizzaman pinetree pathfind papamama nightmar montrose montecar masterbating maserati \
lockdown liverpool1 kingking killer123 jeepster ilovegod hellsing frederik feelgood escalade eleonora dominiqu \
delldell daughter contract conquest building buffalo1 blacklab babycake 7777777a 31121986 31121985 31051991 31051987 \
30121988 1234567890- password9 jellybean goldeneye cassandra cashmoney bobmarley qwerasdfzxcv password99 morrowind \
ghjcnbnenrf experienced dragonballz cheerleaers celebrity cardinals abracadabra starwars1 sexybitch sephiroth \
pertinant left4dead gallaries 123456789987654321 1020304050 z1x2c3v4b5 sunshine1 rhfcfdbwf nopassword interacial \
dangerous cleveland biohazard anonymous 741258963 123456123456 112233445566 trinitron sweetheart supersonic seductive \
parlament monkeyboy messenger madagaskar kamikadze fisherman computer1 789632145 1357908642 123456789r websolutions \
stoppedby rfhfvtkmrf q1q2q3q4q5 nokia5800 manunited greedisgood gangbanged freestyle dtkjcbgtl blackbird blackberry \
918273645 1z2x3c4v5b 123456987 000000000 wachtwoord volleyball qweasdzxc123 princess1 pimpdaddy mastermind jefferson \
halloween commander chickenwing101 123456789v 123456789o 1234567890z underwear unbelievable topsecret squerting \
ronaldinho quant4307s prototype ntktdbpjh housewifes flvbybcnhfnjh daredevil asdasd123 8888888888 3rjs1la7qe \
123581321 123321123321 starlight salvatore petrovich lionheart jennifer1 groupd2013 ghbdtnrfrltkf ghbdtndctv \
favorite2 fantasies experience dragonfly blueberry blackhawk alexander1 aaaaaaaaa a1b2c3d4e5 987654321a \
1qaz2wsx3edc4rfv 159753456 rfgbnjirf nosferatu lockerroom francisco ejaculation dragon123 dominique carpediem \
abc123456 a1s2d3f4g5 123456789123456789 warcraft3 thumbnils spiderman1 scorpions satellite qwedsazxc offspring \
nokia5530 motocross knickerless firestorm finalfantasy deathnote contortionist billabong 963258741 123qwe123qwe \
0987654321q vflfufcrfh vfhbyjxrf transexual revival47 qazqazqaz qaz123wsx qawsedrftg pornographic newproject2004 \
motdepasse masturbation lamborghini justinbieber ilovepussy fhvfutljy comicbookdb businessbabe basketbal ursitesux \
password01 nathaniel metallica1 magdalena losangeles lighthouse lacrimosa gabrielle adventure administrator \
1a2s3d4f5g 1234567aa 1213141516 012345678 zxczxczxc woodstock silverado needforspeed monkeyman l58jkdjp! josephine \
frederick dreamcast disturbed chemistry casablanca armageddon 890098890 666666666 123456789l 123456789123 ytngfhjkz \
wednesday uncencored temptress starbucks shevchenko rktjgfnhf monkey123 michelle1 masterbaiting housewife girfriend \
fireblade bubblegum blondinka blackbelt babemagnet 1password 1a2b3c4d5e 123698741 123456789p vancouver snowflake \
singapore shinigami seventeen porsche911 mahalkita j3qq4h7h2v discovery desperado christophe braveheart birthday4 \
bettyboop avalanche austin316 alejandra aerosmith 12345678900 12345654321 0000000000o x72jhhu3z watermelon \
scandinavian qazxsw123 penetrating pathfinder maurolarastefy master123 lancaster gymnastic fuckmehard forgotten \
domainlock2005 cxfcnkbdfz charlie123 555555555 333333333 southside solnishko qqqqqqqqqq qazwsxedc1 nokia5230 \
momsanaladventure marketing laracroft information hd764nw5d7e1vb1 hamburger everquest dhjnvytyjub computers \
callofduty blackcock armstrong 987654321q 369852147 17171717aa 147896321 12s3t4p55 zz8807zpl yfnfitymrf techniques \
peternorth password11 nokia5130 misiaczek maximilian macintosh insertions insertion ijrjkflrf evanescence archangel \
8phrowz622 123hfjdk147 123456789k 123456789012 volkswagen ssssssssss snoopdogg robinhood pokemon123 montecarlo \
iloveporn francesca doggystyle devilmaycry destroyer darthvader cambridge 5hsu75kpot 3216732167 123456abc 100200300 \
0102030405 waterpolo valentino supernatural summertime qazwsxedcrfvtgb opensesame minnesota evergreen astalavista \
alligator 8phrowz624 258258258 1357913579 123qwe456 123456asd spartan117 solidsnake remington qwerty777 professor \
postov1000 pantyhose outoutout metalgear masterkey manhattan lifeisgood gy3yt2rgls counterstrike asdfg12345 alexandru \
a1a2a3a4a5 12345678901 123321456 yesterday thunderbird professional pennstate moonshine longhorns lollollol letmein22 \
johndeere jediknight hellohello goldfinger ghjcnjghjcnj gfhjkzytn favorite8 favorite7 drjynfrnt dkflbvbhjdbx \
copenhagen champions angelofwar admin18533362 333666999 1a2a3a4a5a 159753123 ytrhjvfyn whatever1 vfvfvskfhfve \
thematrix slayer666 sixtynine rhfcfdxbr mapet123456 mackenzie limpbizkit indonesia henderson goodtimes fkmnthyfnbdf \
emachines bondarenko birthday1 assassins arsenalfc aleksander 89600506779 246813579 159753852 zxcvb12345 zcxfcnkbdf \
ytyfdbcnm wonderland tennessee stockings schneider qazxswedcvfr q1234567890 pussylover princessa password3 parliament \
oldschool makemoney leningrad kovalenko ghbrjkbcn galatasaray fuckyou123 flhtyfkby fightclub elisabeth cyberonline \
barracuda azsxdcfvgb art131313 annabelle agnieszka abcdefghi 777888999 23176djivanfros 123456789qwerty 123456789n \
123321qwe 111111111111 zzzzzzzzzz zaq1xsw2cde3 westcoast televizor smallville slimed123 rocketman repytwjdf \
pussylicker psychnaut1 prettygirl porn4life oc247ngucz nokia5300 nokia3250 mostwanted mavericks kochamcie killemall \
karamelka jerusalem hondacivic galadriel fatluvr69 fantastic dkflbvbhjdyf bugsbunny blingbling alexandria 987412365 \
748159263 326159487 1q2q3q4q5q 123456zxc 123456789abc 1111111111zz whosyourdaddy whatthefuck warcraft1 sylvester \
salamandra qwertyasdfgh qwertasdfg notredame moneymoney knowledge halflife2 girlfriend ghbrjkmyj gfhkfvtyn fnkfynblf \
feyenoord duranduran dominator darkknight cvzefh1gkc cristiano chocolate1 chewbacca badnaamhere 89015173454 789123456 \
4904s677075 222222222 159875321 123123123q 1223334444 t34vfrc1991 sunderland samantha1 rodriguez reddragon qwaszx123 \
peterbilt pervasive pepsicola parolparol maverick1 krasnodar juancarlo internet1 ilovemyself grandprix eightball \
dimension deutschland connection comicbook cinderella babycakes azerty123 astonvilla architect alfaromeo 541233432442 \
3333333333 243462536 132465798 1234qwerty 123456789w 123456789qaz 12344321q 123123qwe 007007007 winchester waterfall \
underworld trustnoone salvation rfnthbyrf razdvatri qpwoeiruty pussyeater princeton nokia3310 multimedia moneymaker \
mitsubishi lovepussy kirill123 jonathan1 jledfyxbr interests hernandez ghbdtnghbdtn ghbdtnbrb fartripper cnjvfnjkju \
champagne bladerunner blackrose bestfriend asd123asd arschloch 135797531 123qaz123 12345678900987654321 123123123123 \
1111122222 0147896325 wellington webhompass venom121293 stuttgart smokeweed slipknot1 sepultura sailormoon password0 \
paramedic nikolaeva nikita123 nicholas1 jesuschrist intelligence gnasher23 gabriella friendship edinburgh dashadasha \
ctdfcnjgjkm crossfire cracksevi cheesecake birthday21 barbarian 777777777 51051051051 159159159 12345trewq 123456789g \
1234567890s 123123321 010203040506 xxxxxxxxx vanyarespekt transport television tangerine submarine stepanova \
shadow123 sebastien qq123456789 q1w2e3r4t priscilla password69 password4 pakistani operation mickeymouse lthgfhjkm \
littleton indianali incognito iloveyou! fktrcfylhjdbx fgjrfkbgcbc favorite5 education dfvdfvdfv daniel123 commodore \
chelseafc 6666666666 321456987 314159265 124578963 123qwe321 123asd123 12345678901234567890 102030405060 xthtgfirf \
victoria1 vfvfbgfgf unlimited steelers1 sssssssss slipknot666 sexmachine rhbcnbyjxrf qwe123asd pennywise password7 \
password6 nokia6303 multisync jesucrist imperator iddqdidkfa hillbilly hellraiser hellomoto happydays google123 \
godislove fortune12 fktrcfylhjdyf firefighter efbcapa201 devilmaycry4 devildriver cxfcnmttcnm cthuttdyf combat123654 \
checkmate beszoptad babygirl1 apocalypse 89231243658s 134679258 12345zxcvb 123456qaz 12345678z 12345678c 123456789x \
11223344q 1010810108 xakep1234 ukflbjkec testing123 svetlanka satana666 romanroman rfhfufylf qweqwe123 qwedcxzas \
programmer pokemon12 passmaster painkiller nokia5310 mrbrownxx millennium matematika m6cjy69u35 letmeinnow lastochka \
independent helloworld goodfellas good12345 fuckmenow friendste esmeralda depechemode crocodile costarica churchill \
centurion airforce1 adrenaline 999111999q 456789123 456123789 3syqo15hil 3141592654 123459876 123456789qqq 1112131415 \
welcome123 vyjujnjxbt ukflbfnjh transformers supervisor superduper sasha1996 sanity729 rjdfktyrj riverside rfvbrflpt \
qweasdzxc1 precious1 pendragon neveragain mimi92139 mcdonalds landrover kamehameha gthtcnhjqrf fhntv1998 ferdinand \
familyguy earnhardt deerhunter dbrnjhjdbx danil8098 chesterfield beethoven battlefield badminton atlantida aq1sw2de3 \
ambassador a987654321 555666777 1pass1page 123456789t 12345678912 123123qweqwe 1122112211 zxcvbnm12 ybrjkftdbx \
whitepower vfvfgfgfz tinkerbel thomas123 temporary subwoofer stripclub sochi2014 sdsadee23 saun24865709 rkfdbfnehf \
rjntyjxtr rfnfcnhjaf qwertyytrewq qwerty321 qwerty123456789 quicksilver qqqwwweee q1w2e3r4t5y6u7 primetime21 \
primetime password1234 ohiostate nashville marcopolo mancheste lovestory love4ever lifesucks kristinka kodaira52 \
heyheyhey hellspawn gznybwf13 guillaume guatemala gjkbyjxrf ghtpbltyn fernandez dfcbkmtdf developer cvtifhbrb \
birthday54 berserker azwebitalia asslicker alskdjfhg 989244342a 159753258 159357258 1357997531 123qwe456rty \
123456789b 1234567890qw 11111111111 098765432 zx123456789 zqjphsyf6ctifgu zaratustra z123456789 xxxxxxxxxx wishmaster \
wenef45313 verygoodbot supermanboy supergirl sheffield sasha2010 sasha1995 santacruz rfnfgekmnf rfkmrekznjh qwer12345 \
q12345678 pussypussy polarbear pittsburgh password5 palestine nightwolf nighthawk newpassword naruto123 myxworld4 \
methodman maxim1935 makeksa11 luojianhua lovesporn lkjhgfdsaz ledzeppelin karaganda jamesbond007 iseedeadpeople \
international igromania idontcare hurricanes hellothere ghjcnj123 geraldine generation freelancer fernandes \
fenerbahce everything dantheman cthuttdbx computador cnhjbntkm bumblebee buckwheat bigpimpin bearshare bbbbbbbbbb \
baltimore asd123456 areyukesc antivirus alohomora albatross aaaaaaaaaaaa 987987987 80070633pc 4815162342lost \
1qa2ws3ed4rf 123456789f 123456781 123123123a 1010101010 090808qwe welcome12 vfylfhbyrf utjvtnhbz undercover \
transformer touchdown themaster stonewall stalingrad skorpion39 sexybeast scoubidou schumacher s456123789 roflcopter \
rfhbyjxrf rastafari primavera pornografia pass1word nokia8800 nokia7610 nokia6120 mevefalkcakk megapolis management \
littleman leicester kassandra justforfun jacqueline impossible iamtheone iaapptfcor hshfd4n279 hawkdog79 hardcore1 \
gunslinger greenwood godisgood gjhjctyjr gfhjkmxbr genevieve fylhjvtlf fordtruck fireworks diosesamo dictionary \
deltaforce dbrnjhjdyf cyjdsvujljv coolbeans condition community carpenter californi bvgthfnjh birthday299 birdhouse \
asdfghjkl123 apokalipsis andrey123 alinochka ajcuivd289 794613852 7777755102q 741236985 5t4r3e2w1q 333222111 \
31217221027711 1hxboqg2s 19mtpgam19 159753159753 123zxc123 123456789qw 12345678987654321 11111111a zenit2011 \
wwwwwwwwww vfvektxrf unforgiven topdevice tamwsn3sja sweetgirl superpuper sugarbear sometimes shadow1212 sergeevna \
seminoles scarface1 samsung123 rotterdam rosemarie rincewind rattolo58 qwertyuiop123 qwerty666 qwe123rty qazedctgb \
puertorico ptybnxtvgbjy pppppppppp pepperoni password23 password13 naughtyboy midnight1 lightsaber lhbjkjubz2957704 \
koshechka kbnthfnehf karolina1 invisible inkognito ilovelife hedimaptfcor ghhh47hj764 gfyfcjybr geniusnet fuckyou69 \
fucktheworld freestuff firetruck firestarter excellent elizabeth1 dima12345 dfkmrbhbz delicious courtney1 \
cosmopolitan clubpenguin chessmaster cegthgfhjkm byajhvfnbrf blueballs berezuckiy archibald applesauce angelo4ek \
amsterdam1 alternative alessandra abcdefghij abcdef123 911911911 4815162342a 481516234 4444444444 123456789zxc \
1234567890w 1234567890qwe 123456780 123455432 123452000 111222333a yfcnzyfcnz yanshi1982 volgograd viktorija \
threesome sweethear superman2 suckmeoff strippers stargazer springfield sevastopol rrrrrrrrrr qwerty111 \
q1w2e3r4t5y6u7i8 pussylick prometheus prettyboy piehonkii pepper123 pdtpljxrf password00 oooooooooo olegnaruto \
olcrackmaster nokia5228 newzealand neverland necromancer moremoney metro2033 mechanical mastercard martesana \
madeleine loveislife lost4815162342 ladyffesta katerinka juggernaut jaredleto jaimatadi islanders installdevic \
hotwheels hello1234 grandmaster ghjcnjrdfibyj ghbdtngjrf gfhjkm007 generator freakshow fkg7h4f3v6 electronic \
dodgeviper digitalprodu desperados ddddddddd davidruiz darknight crackhead cornholio cornbread comicsans cheburashka \
cannondale camaroz28 bitchedup birthday5 baseball2 bartender bangladesh backspace asdfghjkl1 antonella andrewjackie \
alphabeta alexsandr alessandr .adgjmptw 89172735872 654654654 5544332211 299792458 213qwe879 1qazxsw23edcvfr4 \
159753456852 12qw34er56ty 1234qwerasdf 12345678s 12345678qwe 123456789qq 123456782000 123123456 000777fffa zxcvbn123 \
zaqwsx123 zaq123wsx wisconsin winnipeg261 whoareyou whatthehell vfrcbv123 vbhjckfdf utjuhfabz treehouse tombstone \
tombraider thissucks streetball spaghetti service01 secret123 scarecrow sacrifice rjhjkmbien rhfdxtyrj revelation \
raspberry qwert54321 qweasdqwe quant4307 putamadre pussyfuck pokerface pjcgujrat peanutbutter paparoach opelastra \
oldsmobile nokia3230 nezabudka nefertiti nederland motorhead motherfuck metropolis mcfarland masterchief marina123 \
mangust6403 lsia9dnb9y lovelovelove littlebit kingfisher johnathan jetbalance jackdaniels ingodwetrust incredible \
hypnodanny honeybear homeworld hfcgbplzq helloween ghjrehfnehf fcbarcelona escorpion duplicate dogbreath challenger \
c43qpul5rz brittany1 birmingham bigdaddy1 batman123 auckland2010 assassass asparagus asdf12345 aristotle amaterasu \
a9387670a 999888777 951753852 89211375759 88002000600 786786786 444555666 369369369 1qasw23ed 123654987 1236547890 \
12345abcde 123456789aa 123456789101 1234567890zzz 11111111111111111111 01081988m zxcqweasd zxc123zxc wildthing \
w2dlww3v5p vtufgjkbc veronique ujkjdjkjvrf tttttttttt tigerwoods tecktonik suckmycock sportster sloneczko sintesi07 \
silverfox sidewinder sharingan scoreland sasha1234 sanandreas sam138989 realmadri qwertyuiop1 qwert1234 quiksilver \
qazsedcft qaz123456 qawsedrftgyh powerpower poiuytrew ontherocks omgkremidia nokia6230 nokia3110 newspaper newjersey \
misskitty minecraft123 millionaire maxmaxmax markhegarty madagascar lovehurts longbeach leviathan legendary ktybyuhfl \
krasavica klapaucius kartoshka karandash jumpman23 jigei743ks important ilovegirls honeymoon guildwars grasshopper \
ghjcnjqgfhjkm froinlaven frankfurt football12 favorite3 exploiter elemental ekaterina20 dragonfire djkujuhfl \
deathstar constance chameleon challenge cellphone caterpillar carlsberg candycane buttmunch brilliant boy4u2ownnyc \
blackstar birthday3 billgates beautiful1 baseball3 bangalore austin123 asdfgh123 an83546921an13 alphaomega addiction \
abc123456789 963214785 742617000027 666999666 546546546 42qwerty42 41d8cd98f00b 32615948worms 1958proman 159357456 \
123452345 123321qweewq 1029384756q 01telemike01 0147258369 wolverines warehouse virtuagirl vfnhjcrby vfktymrfz \
ufkfrnbrf tkachenko ticketmaster thekiller thebeatles technology tarantino studioworks stronghold soccer123 sensation \
sebastian1 scoubidou2 sasha1997 sasha12345 samarkand sacramento rostislav rjvgm.nth random123 qwertyasd qqqqqqqqq \
qazxcvbnm pornography polopolo09 playstation2 pimpjuice performance perfection peppermint penthouse password8 \
notorious nintendo64 nintendo1 nhfdvfnjkju123 nemvxyheqdd5oqxyxyzi mustanggt muffdiver motorolla mmmmmmmmmm \
millertime luckycharm lp2568cskt loveforever lololyo123 lol123456 lol123123 liverp00l lazyacres kristopher kononenko \
kimberly1 justinbiebe jrcfyjxrf jesusislord hunter123 hjcnbckfd heartless greengreen gordolee85 gjytltkmybr \
gjikbdctyf ghjcnjrdfif ghjcnbvtyz gggggggggg gettysburg geolog323 gblfhfcbyf fvcnthlfv funfunfun fullmetal francisca \
football2 flintstone fallenangel executive exclusive drumnbass domination dctktyyfz cyecvevhbr cumsucker crazyfrog \
coorslight charmaine cegthgegth cahek0980 brucewayne bowhunter borntorun blackhawks blackburn benjamin1 balalaika \
arnster55 animation allblacks alenushka ajnjuhfabz airjordan access123 a3eilm2s2y 987654321z 753951852 5432112345 \
26429vadim 212121qaz 19952009sa 1986irachka 123578951 12345asdfg 123456qwert 123456aaa 123456798 123456789zx \
123456789. 123456788 1133557799 012345678910 0000000000d yfdbufnjh whitewolf vfvekbxrf vfrcbvjdf vfhufhbnrf undertake \
ufhhbgjnnth timberwolf timberlake telecaster tadmichaels sweetpussy svetasveta stomatolog spam967888 sovereign \
solnyshko shamanking sexisgood sergey123 serega123 security1 sasquatch sasha1988 s5r8ed67s runescape1 rrrrrrrrr \
richardson rfhfrfnbwf rfgecnfcerf residentevil reanimator qwerty2010 qazxcdews punksnotdead psw333333 production \
premiumcash pmdmsctsk playstation3 password21 password10 passw0rd1 paperclip paintball1 p030710p$e4o ooooooooo \
omgwtfbbq nokia6630 nokia5320 nissan350z nccpl25282 multiplelog motorcycle minhasenha milwaukee milkshake medvedeva \
margaret1 mandragora mandarinka lumberjack loosee123 liverpoolfc left4dead2 lateralus kurtcobain kbdthgekm \
kaliningrad jimandanne installsqlst iloveyou123 ilovejesus iloveboobies illuminati iamtheman hooligans hollister \
hhhhhhhhhh heckfyxbr haloreach greeneyes grandorgue graceland gfhfcjkmrf gcheckout garfield1 fuckyouguys fuckyoubitch \
fuckyou12 fuckmyass forever21 fighting54 eybdthcbntn economics dkflbdjcnjr disneyland deeppurple dddddddddd \
dctvghbdtn dctvghbdf danielle1 cxzdsaewq cristopher creative1 completed christian1 chihuahua cheerleader character \
calculator butterfly1 broadband brentford bonethugs bluedevils blackpool blackdick birthday6 birthday10 begemotik \
barrakuda available automatic assembler armadillo arlington angelique anastasiy altavista alena2010 abundance \
abc123abc a1234567890 80637852730 7elephants 7418529630 531879fiz 51094didi 4294967296 3f3fpht7op 38gjgeuftd \
369874125 1qwertyuiop 1a2s3d4f5g6h 17071994a 142536789 12345rewq 123456qwer 1234567qw 123456789i 123456789e \
123456789c 123456789as 123456654 1234554321q 123123123123123 112233445 10987654321 102030405 0cdh0v99ue 0147852369 \
01234567890 zimmerman ytnhjufnm vladimir1 villevalo vfvfgfgf123 vfrcbvvfrcbv vfhvtkflrf tiribon12 timberland \
supermario superbowl sundaypunch stalker123 solutions snusmumrik snowball1 simpleplan silenthill shithappens \
serendipity selfok2013 scoubidou6 sasha1994 s12345678 rottweiler rossignol riverplate rfktylfhm rehjgfnrf redwings1 \
redemption qwerty789 qwertgfdsa qawsed123 pussybitch prosperity portsmouth philadelphia pentagram pandabear panasonik \
palmeiras p0o9i8u7y6 northstar nightwing nightcrawler neworleans nastya1995 mustang69 murcielago mountains motorbike \
morrissey montgomery miroslava melbourne mclarenf1 mauritius mathematics matematica marlboro1 marihuana marchenko \
mama12345 maldonado makarenko magical123 mackdaddy loranthos llllllllll littlegirl littlebitch lfplhfgthvf kozanostra \
konovalov kobebryant kd189nlcih karolinka kalleanka juancarlos jordan123 jlbyjxtcndj jellyfish installutil inspector \
ilovemylife ilovecock iampurehaha2 hjvfynbrf hejmeddig hammertime gxlmxbewym guilherme gthtrhtcnjr greyhound \
greentree greenlantern goodpussy ghjcnjnfr1 ghjcnjgbpltw gfhjkm135 georgetown gatekeeper galatasara fktrcfylhjd \
fffffffff felicidad esperanza energizer dukenukem diablo666 description darthmaul czekolada cytuehjxrf constantine \
computadora cjdthitycndj cincinnati chrisbrown chicken123 cfkfvfylhf cdexswzaq caroline1 breakfast borisenko \
bootycall bluetooth bloomberg birthday100 batistuta avrillavigne asdfghjkl; aqwzsxedc appleseed aphrodite angelochek \
anastasija alinaalina alekseeva agamemnon advantage 888888888 87e5nclizry 80988218126 7jokx7b9du 789632147 777555333 \
753951456 413276191q 2bornot2b 22q04w90e 172839456 1597532486 1472583690 123qazwsx 123abc123 1234qwert 123456789aaa \
12344321a 12341234q 11111aaaaa 0o9i8u7y6t zzzxxxccc zxcvbn3215 zjses9evpa zaqwsxcderfv yfcnhjtybt ybrbnf_25 \
writerspace wonderwall walkman555 vladislava vinogradov venezuela velosiped uaeuaeman tupacshakur ttttttttt testdrive \
terminato tdfyutkbjy table54781 sweetdream stokrotka snickers1 snakeeyes signature shameless shakespeare shadowfax \
sexygirls sexpistols service321 schoolgirlie saxophone sat321321 sashasasha sasha2000 sasha1992 saqartvelo s123456789 \
romantika romanenko rhfcyjlfh rfvtgbyhn reviewpass respublika qwertyuiop10 qwe123456 qazxswedc123 qazwsxqazwsx \
qazwsx1234 protected princesse pretender prestigio predators pornostar polkaudio playground pinkpussy pilipenko \
philosophy pensacola paycheck1 passwordstandard passthief parolamea paraklast1974 papasmurf panthers1 ownage123 \
optiquest obsession nuaddn9561 nokia6500 nokia2700 nigger123 nhfycajhvths nhecsyfujkjdt montenegro misha1111 \
mesohorny mercedes1 melnikova masturbate massimiliano mashamasha masha1998 maranello mapleleafs lytghjgtnhjdcr \
lucifer666 lovergirl lotrfotr34 lomonosov lollol123 livestrong littleone littlebear linkinpark lifestyle kwiatuszek \
killerbee killer666 katharina kanmax1994 jxfhjdfirf junior123 johnsmith jjjjjjjjjj jeffhardy jaydog472 ironhorse \
intermilan intelinside insurance iloveyou12 ilovemusic iforgotit headhunter hardwareid hammerhead gutierrez grigoryan \
greenday1 godisgreat gjkrjdybr gjhjlfcjqrb giancarlo giampaolo ghtlfntkm ghjcnjabkz ghbjhbntn gfhfvgfvgfv gfgfrfhkj \
getfucked gaudeamus galleries fsd9shtyu firstone123 favorite4 estrellit dthjybxrf douchebag dolphins1 dirtygirl \
dfyjdf846 dfktynbyrf department commandos cockgobbler cocacola1 cnthdjxrf cntgfyjdf christopher1 chargers1 cgtwbfkbcn \
celtic1888 cdtnkfyrf carlos123 c43dae874d byrjuybnj butterbean bullwinkle bridgette bpgjldsgjldthnf boomerang \
bluedragon blessings blahblahblah blackmetal blackhole bigbrother bbbbbbbbb baseball12 awdrgyjilp astonmartin \
assmaster asdfasdf1 asd123qwe artem2010 arrowhead apartment annamaria anderlecht am4h39d8nh alex12345 alabama123 \
aishiteru accounting accountbloc abcde12345 abcd12345 9z5ve9rrcz 999666333 9638527410 9085603566 89876065093rax \
87654321q 870621345 2468013579 212009164 20091989q 1qa2ws3ed4rf5tg 19851985p 1928374655 17711771s 159951159 147147147 \
141312190296q 132forever 1313131313 123qweqwe 123lol123 1234qwerasdfzxcv 123456rrr 1234567qwertyu 12345678m \
123456789y 123451234 123412341234 123321qaz 111222333000 zsecyus56 zcxfcnkbdfz yeahright xxxp455w0rd5 xiaoyua123 \
worldwide weihnachten weihnachte websolutionssu warhammer40k vova12345 volvofh12 volunteer vfyxtcnth vfhbyfvfhbyf \
v123456789 uuuuuuuuuu uuuuuuuuu truskawka traveller throatfuck tgbxtcrbq testament tannenbau superdude suffering \
subscriber studmuffin stratocaster stinkyfinger stainless snowwhite sniper123 shithead1 shadowman sdfsdfsdf scrapland \
schalke04 sasha1991 sanctuary rjycnbnewbz rhfvfnjhcr rfnthbyf1988 rammstein1 racecar02 qwertyu123 qwerty100 \
qwerttrewq qwe123qwe123 queenas8151 putangina pussylips protection prostreet prostotak processor prisonbreak \
presidente ppppppppp poohbear1 polniypizdec110211 policeman playstatio philippines phezc419hv peterburg patterson \
passwordpassword parachute papichulo opelagila omnislash odt4p6sv8 novosibirsk nondriversig nokiadermo nokia7070 \
nokia6230i nokia5200 nikita2000 nikita1998 nhfkbdfkb naruto010 mynewbots mustang67 musiclover motdepass morganstanley \
momanddad miyvarxar miruvor79 minnesota_hp millerlite metalhead marmalade marinochka lzhan16889 luansantana \
lovezp1314 love12345 loploprock london123 lllooottt littlewhore littleslut littlefuck lacrosse1 kravchenko kkkkkkkkkk \
kathmandu k123456789 justin123 jokerjoker jkbvgbflf jjjjjjjjj jhnjgtl12 jesuschris jedimaster jackfrost itsasecret \
isabella1 iloveyou143 ilovelucy ilikepussy ifoptfcor ibragimov hondas2000 helicopter happyness guitarman guitarhero \
guinness1 guillermo greenhouse goodmorning goldenboy gladiolus gjkysqgbpltw ghjuhfvvbcn ghjrjgtyrj ghbdtnbr1 \
gathering galaktika fuckitall fruitcake freyfvfnfnf foxmulder formatters fordfocus fiorentina fhutynbyf feuerwehr \
felicidade fatima753357 engineering edcwsxqaz economist drumandbass dreamgirl donkeykong donatello dogphil3650 \
difference di7771212 demolition daywalker dandelion cuntfinger cubalibre corvette1 construction constantin confidence \
compaq123 comicbooks collection cnfnbcnbrf clarkkent christiaan chinchilla chevalier charlie111 changeme1 cessna172 \
cdznjckfd cdtnkzxjr cccccccccc carolina1 candyeater c32649135 bulat1996 buhjvfybz brooklyn1 brandon00 bogdanova \
bmvm3e46gtr bltynbabrfwbz blackwhite blackhorse blackadder birthday2 birthday133 biedronka baseball9 badiman28200 \
avtoritet asdzxc123 asasasasas apples123 antananarivu animal2000 angeleyes andrew123 alina1995 alexandra1 aftermath \
activation abcdefghijk aaa123456 9988776655 987654123 9085084232 8096468644q 794613258 789456123a 59382113kevinp \
444444444 2dumb2live 1s1h1e1f1 192837465q 159357123 147258369a 1346798520 123qweasdzx 123boots1 1234qw1234qw \
12345678i 1234567890qwerty 1234567890qaz 1234567890p 1234567890o 1234567890987654321 123321456654 122333444455555 \
121121121 111222333444555 0987654321a 0123654789 zxcvbnmzxcvbnm zimmer483 zcfvfzkexifz zaq12wsxcde3 yorkshire \
yfhrjnbrb ybrjkftdf ybrbnjcbr wrestling1 wholesale whitetail webuivalidat wasdwasd1 wallstreet w74156900 vladivostok \
vaffanculo uhfdbwfgf ubvyfcnbrf tropicana transcend terrorist teddybeer tatarstan systemofadown syndicate svetochka \
superman123 superhero sunshine69 sunshine2 stickdaddy77 steamforums steamboat speedster specialinsta spartak1922 \
spartacus something1 softball1 sleepyhollow skylinegtr seemnemaailm savchenko satisfaction sataniv1993 sasha1998 \
santaclaus rolltide1 rockhopper rjkjrjkmxbr rjdfkmxer rashley198 rainmaker rainforest r3vi3wpass qwertzuiop qwerty999 \
qwertasdfgzxcvb qwaszxerdfcv qwaszxedc qazwsx12345 q1w2e3r4t5y6u7i8o9p0 providian proghouse privet123 princesit \
porosenok pornlover polpolpol polina2009 pol123456 pokemon00 pointblank plextsofttm playhouse percussion password22 \
passsword paramount ow8jtcs8t otherside ontheoutside ojp123456 nyyankees ntktdbpjh1994 nthvbyfnjh2 nottingham \
northside nokia6131 nikolaevna neverwinter ne_e_pod_chehyl nazarenko nastyanastya myjdxtcxks mushrooms multiscan \
muffinman mortalkombat moonstafa minicooper mike12345 miguelito michael12 megafon77 meditation mattylad10 matrix123 \
matchbox20 mansfield maintenance madarchod macedonia ma123123123 longboard logitech1 lockingservi lkjhgfdsazx \
littleminge littleguy lissalissa lightbulb lamborgini lalala123 kudos4ever kryptonite kolesnikov killerman khongbiet \
kensington katyakatya kamelia2011 jobsearch jamesjames islamabad imagination iloveyou11 ilovetits ilovemyfamily \
ilikeporn ihateyou1 ibpjahtybz hothothot hollister1 hijodeputa highheels hfpldfnhb hesoyam123 hellbound hejsan123 \
heavymetal hawaiiguy harrison1 happyhappy happyface hallelujah gundamwing guadalupe gtnhjpfdjlcr greetings gorbunova \
ginger123 gilgamesh ghjuhfvbcn ghjatccbjyfk ggggggggg gfhjkm1234 gfhfdjpbr gerasimova gamecocks gabriel12 \
fynfyfyfhbde fyfnjkmtdyf fufnfrhbcnb freespace fre_ak8yj foundation forzaroma fktrcttdf fkrjujkbr fitzgerald \
fishfinger fibonacci fenerbahc fallengun excellence escaflowne encounter emergency elevation eeeeeeeee %e2%82%ac \
dragon666 dkfcntkby devastator denis1988 dartmouth daffyduck cornelius cookie123 controller contrasena casper123 \
candyfinger campus100 c7e4f8ezqh buster123 bujhmbujhm brillo021 breakdance boyfriend boredboi4u bongwater bogdan123 \
bluegreen blitzkrieg birthday28 birthday27 birthday26 beckham23 basketball1 baseball7 baseball11 bandicoot banaan123 \
awo8rx3wa8t australia1 astronomy asshole123 artem1995 artem1992 arsenal14 appliance applejuice anytimetoday \
antichrist animalsex angelangel andrei123 amadeusptfcor alltheway alina2006 alchemist afrika2002 adrianna1 aaa123aaa \
a1s2d3f4g5h6 999999999999 987654321g 89032073168 824358553 671fsa75yt 6215mila6215 4815162342lf 420420420 357357357 \
2606642yra 2401pedro 23wkoa0fp78dk 213546879 1q3e5t7u9o 1escobar2 159357852 147852963 147369258 12monkeys \
123ewqasdcxz 123987456 12345abcd 123456zzz 12345678w 12345678d 123456789qwer 123456789j 123456789asd 1234567892000 \
1234567890m 123456789000 1234567887654321 1234562000 123123asd 123123789 1212312121 112358132 1111111111a \
111111111111111 10293847qp 102938475 014702580369 zxcvbnm123456789 zxcvbn123456 zxcvbasdfg zxcvb09876 zolushka2 \
z1x2c3v4b5n6m7 z1x2c3v4b5n6 ytpfdbcbvjcnm yoshimitsu yfxfkmybr ybrjkftdyf wwwooo1234 winstonone wimbledon williams1 \
wethepeople wazzkaprivet vitalik123 victoriya vfuybnjajy vfhnsyjdf vfhbegjkm vbhjndjhtw universidad ultracash \
uhtvkby17 ubnkthrfgen tylerca310 trickster totenkopf toblerone tighthole thundercat thugstools thesimpsons \
thecakeisalie taburetka t5r4e3w2q1 sutvsc5ysaa surfboard superpower studentka stevesmojo stepashka startrek1 \
spiderman3 specialized specialist souleater soledad32 smallvill slayer123 simonsays shortcake shopping1 sergeevich \
septiembr seniseviyor semperfi1 sdh686drth schnitzel savannah1 sasha2011 sasha1993 sanfrancisco sandi1172 sagittarius \
safronova ronaldo99 ronaldo123 rockstar1 rockbottom rjhjdf777 rhbcnbyrf rfrfitxrf rfhvfyftd reymysterio redskins1 \
reddevils qwertyuiop12345 qwertyuiop12 qwerty555 qwerty1992 quicksand qsefthuko qaz26101778 pushistik progressive \
portishead pineapple1 pfqwtd27121988 pfhfnecnhf peugeot406 performing peacemaker password88 passtrader pandemonium \
onetwothree nightshade nightmare1 nick1234-rem936 nhfycajhvth nhfrnjhbcn networkingpe natasha123 nastya2010 \
nastya1997 msoracle32re monkeybutt milfhunter michaeljackson michael123 maxmotives marmeladka margherita manchester1 \
maisuradze love777321777 lk9slwgh3x letmein123 ktjynsq40147 krasavchik konovalova kazakhstan kalifornia jwhw6n1742 \
jesussaves jessejames jasmine123 infalicall imjakie123 iddqdiddqd iamawesome hjpjxrf23062007 harrypotte gunsnroses \
gthtrfnbgjkt gjdtkbntkm ghtpthdfnbd ghjnbdjcnjzybt ghjgfufylf gearsofwar fuckthroat fuckthemall fuckoff666 fuckmylife \
fuckintits frozenfish freeaccess forzainter fktrcfylth fgtkmcbyrf fgjkbyfhbz falloutboy electronics e6pz84qfcj \
dragonforce dirtywhore dantheman123 daddysgirl corperfmonsy compatible commercial cnfc35762209 cheeseburger \
cfvfzrhfcbdfz byyjrtynbq bvncnbnvvbn bushmaster boy1cool23 blackheart blackdragon birthday36 billionaire bernadette \
barbarossa azerbaijan awesome123 astra334566 asdfgh123456 artemartem alkanaft123 aksjdlasdakj89879 a789456123 \
99strenght 89semtsriuty 89614774181 89132664230 89063032220m 87654321vv 4815162342q 420842084208555 2347172123 \
2143658709 1rus27540102 193570356033 123qwerty123 123654789a 12345qwert7 123456789zz 1234567890v 1234567890d \
12345672000 123451234512345 1231231234 0123698745 000000000000 zxcvbzxcvb zxcvbnmmnbvcxz zexts364325 zcfvfzrhfcbdfz \
ytpyfrjvrf xxpa33bq.adna xtkjdtrgfer wutangclan wsx22wsx22 widespread widescreen werty12345 w1w2w3w4w5 voxstrange \
volkswagon vladimirovna vef6g55frz vbybcnthcndj utyyflmtdyf userexecute uniqueness understand tigertiger technician \
taylormade sylviahans sutherland supersuper superman12 sunglasses submission stefanescu statistika starwars123 \
starcraft2 ss6z2sw6lu slushslush simferopol sdicmt7seytn santamaria sagitarius rubberduck rockandroll rhfcyjzhcr \
rfnthbyjxrf rfkbybyuhfl rfkbajhybz rfcgthcrbq rerhsybrcs razorblade rangerover qweasdzxc12 qwe1234567 qazwsxedcrf \
qazwsx123456 qaz123wsx456 q80661658441 q2w3e4r5t6 pyfrjvcndj ponomarenko pointbreak pjsheridan pflhjncndj persephone \
password33 orochimaru operations nostradamus noonehackme nokianokia nintendods nikita2010 nikita1996 nikiforova \
nhbybnhjnjkejk nhbujyjvtnhbz nevergiveup nesterenko necronomicon navigation nastya1996 naruto2010 mousemouse \
mountaindew mogwai1976 mishaoooyeah minniemouse michelangelo mariamaria marcuseckos m123456789 lytdybrbdfvgbhf \
ljcnjtdcrbq littlehole larterlarter kolesnikova knucklehead kittykitty kirill2010 killkillkill keraskeras katastrofa \
kalashnikov josephphone7 jjjjjjjjjjjj jesuslovesme jesusfreak jackhammer ivanivanov itachi1995 ipo54tj45uy856 \
investment internacional iloveyoubaby iloveyou22 iiiiiiiiii ibragimova housemusic horsepower hollywood1 \
hd764nw5d7e1vbv handkerchief h72sfibbnl h1y4dua229 gtasanandreas grimreaper greatwhite godzils4s7 gjyjvfhtdf \
gilbert2707 ghostrecon ghjnbdjufp ghbdtn12345 gfhfktkjuhfv g00dpa$$w0rd fyfnjkmtdbx fromvermine frankzappa \
foreveryoung football123 flyfishing flashpoint flashlight fktrcfylhjdf findaupair007 fggjkbyfhbz ffffffffff \
fdnjhbpfwbz fcnfkfdbcnf entertainment edwardcullen dunnowho89 dreamonline dontforget donaldduck domodedovo \
dmiller12as djljghjdjl dfcbkmtdyf destruction dancedance cthnbabrfn crepusculo crazyhorse cosanostra consulting \
computer12 cghfdjxybr c123456789 burgerking bullnuts2003 bot_schokk blacksonblon blacksheep blacklabel birthday52 \
biblioteka bhrh0h2oof6xbqjeh belladonna battlestar baseball21 baseball17 bartsimpson asd123asd123 apocalipsis \
antikiller alphabravo alpha135792468 alisaalisa aleksey1986 afireinside afghanistan adoxreadme ad12345678 \
accessibilit abercrombie abcd123456 a514527514 9874563210 9731553197 9105425888 9021090210 89181502334 89057003343 \
80972694711 80361665abc 789456123q 787898mich 7410258963 70780070780 5858855abc 5152535455 4rdf_king7 4815162342z \
20162016up 1qaz1qaz1qaz 1a2a3a4a5a6a 19960610ilja 1994200414 1324354657 12andriy14 12345qazwsx 12345q12345 \
123456zxcvbn 1234567891011 1234567890qwertyuiop 123456789* 12345677654321 1234554321a 1223505sayana 111222333444 \
1111111111q 070793monolit 050605rostik zxcvasdfqwer zsxmr7sztmr zobrdjlrb1 zaqxswcde123 z1234567890 yurkamaliy \
ytrhjvfycth ytdpkjvfti yk66o2kzpz yfnfif2010 wonderwoman witchblade westminster weaknesspays wcrfxtvgbjy vyjujltytu \
vvvvvvvvvv vtnhjgjkbnty vp3whbjvp8 villeneuve viktorovich vfrcbvtyrj vesy7csae64 velocidade vbyfcnbhbn valentinka \
uninstallsql underwater undergroun uehby92pac ublhjgjybrf travelmate trafficracer tottenham1 thunder123 thirteen13 \
tfjunwptzsjp temppassword taser334455 syncmaster740n sweetiepie sweepstakes svensps820 sunflower1 subhanallah \
stephanie1 starscream stargatesg1 stalker777 stabilmente splurgeola spiderman2 southampton soso123bbb smeshariki \
slipknot66 slipknot123 silverstone silvermoon silmarillion sasasasasa salocaluimsg runescape123 ruffryders \
ronaldinho10 rjytwcdtnf rjyjdfkjdf rjcvtnbxrf rikitikitavi rfkfiybrjd resistance relentless registration rattlesnake \
qwqwqwqwqw qwertyuiopasdfg qwertyuiop123456789 qwertyasdfg qwerty54321 qwertqwert qwaszxqwaszx qazwsxedc12 \
q1q2q3q4q5q6 prokopenko productid20f pratap1245 powerrangers powerlifting pornoporno polniypizdec1102 plhfdcndeq \
phoenix123 peterpeter perasperaadastra passionate parabellum packardbell p9ujkuf36d nnnnnnnnnn nikita2002 nikita1997 \
nightrider need4speed nastya1999 nakedteens n123456789 monsterkill monster123 misiaczek1 maximiliano matheus123 \
master1234 masseffect marinamarina made40media ludicgirls luckycharm3 l.qvjdjxrf lonestar44 littlecunt limon32988 \
lalalalala ktutjyth333 kriginegor komltptfcor knightrider klubnichka kirill2002 kirill1999 kilimanjaro keysersoze \
karapetyan jumpmaster juicyfruit jne990pq23 jkh4545jhk jhon@ta2011 jesuscristo jamiroquai jameslewis jacksparrow \
isvipebaby invincible interfaces informatic idspispopd idontknow1 idedevicep0t hubbabubba huangjin1987 hondastars \
holyspirit hocuspocus highschool heartbreaker harekrishna hammerfall gunayka1995 guadalajara greenapple gladiator5 \
gjyjvfhtyrj gjkbnjkjubz gillingham ghtdtlvtldtl ghjcnhfycndj ghjbpdjlcndj genuineintel gankutsuou1989 gamemaster \
funnybunny fuckinglove fuckfuckfuck freetraffic freelander freedom123 frederiksberg frankenstein forzamilan \
forgetmenot foreverlove football11 fktrcfylh1 f64579820f eulacomplete ereyes4269 elsalvador efwe5tgwa5twhgd \
earthquake e1l2e3n4a5 dvtcntyfdctulf dtynbkznjh dragonslayer dragonlord december12 dctvcjcfnm danildanil dance4life \
czps5nyndwcksc cuntlicker cranberries corinthians coolbugi2000 compliance cnhjbntkmcndj cnfhjghfvty cnfdhjgjkm \
clementine civilization cippalippa chupakabra chucknorris checkitout cheaphornybastard charmander charliedog \
changelangms cgtkcbyuth cgfhnfrxtvgbjy callofduty4 cagliostro bulletproof buccaneers bonneville blackstone blackmagic \
baseball10 barcelona1 azerbaycan avadakedavra arsenal123 antoshenechka antihero77 andrey1992 alternativa alternativ \
alteclansing allahuakbar allahakbar aleksandar alejandro1 aezakmi123 administrato abracadabr abc123abc123 \
ababagalamaga aaaaaaaaaaa a123456789a 99999999999 951753852456 92k2cizcdp 89023346574 777777777777 741852963q \
7410852963 675675675a 5432167890 456456456q 4465134444 3478526129 3322607093 3240500777 31321dj51982 30secondstomars \
3012292113 2pacshakur 2267137151 2222333344445555 1qazwsxedc 1928374650 1324354657687980 123sas4758 123qwertyuiop \
123698745a 12369874123 1236987005 1234567qwerty 12345678qwertyu 123456789azat 12345678999 123456789987 123123123z \
1213141516171819 112358132134 111222333q 100894olol 0987612345 0528325452mr 02987654321 zn87x54mxma zghjcnjcegth \
zelenograd z1z2z3z4z5 ytrhjvfyn10 yourmother youngmoney yjdjvjcrjdcr yjdjrepytwr yflz13041976 xpressmusic wolfenstein \
wildflower whiterabbit whitehouse weihnachtsbau waterfalls w123456789w vtkmybrjdf vsavb7rtui vinogradova vfylhfujhf \
vanderbilt ufdyfrecjr tumbleweed transporter transistor traktorist tojiik85521133 tihomirova thunderbolt thiaguinho \
thegreatone t123456789 sweetsweet sweetdreams supersport supermodel superman69 summer2010 suckmyballs successful \
stonehenge stensten12 starwars12 starcraft1 stalker2010 spongebob1 sonnenschein smokie1994 sm4llville slonopotam \
skywalker1 skyliner34 skateordie skateboarding silverstar showmethemoney sfhj5484fgh serggalant sergey2010 serg123111 \
seo21saafd23 sektorgaza scubadiver scratchman sasa123321 santaklaus samsungs5230 salmankhan rockohamster rhbcnbyf123 \
rfrfirf123 reymisterio retribution rendezvous rainbowsix r3r3vi3wacc3ss qwertyuiopasdfghjkl qwertyuiopasdfgh \
qwertyasdf qwerty2000 qwerty1993 qwerty123321 qw12er34ty56 quarantine qrg7t8rhqy ..qlvvcvdeero qaz1wsx2edc3 \
q2w3e4r5t6y7 q1w2e3r4t5y q123123123 q1205199333 pyfrjvcndf purplehaze pulpfiction providence properties princess12 \
praetorian porovoz123 polina2008 polina2005 pocahontas piggy15708 photography perfectexploiter passwordassword \
password101 pashademon p51mustang ordinateur oduvanchik oap9uto293 nwctrinity nomeacuerdo nochnik104 nloq_010101 \
ninjamonkey nikita2011 nikita1994 nicrasow212 neznakomka newt7899onrs neversmile neversaynever neversaymypassword \
narutouzumaki monkeynuts mississipp minecraft1 milesdavis miguelange manchesterunited loveplanet lovehurts1 \
louisvuitton lothlorien loneranger lizardsquad littlefucker lineage123 leprechaun leedsunited leadership lastchance \
l0sk2e8s7a krzysiek12 kristina123 kournikova kmh12025476 kl?benhavn kirill1996 kirill1995 killer1234 kickboxing \
kbytqrfpkj kbndbytyrj kasablanka jobshop200 jmhj5464dcx jesuslives jeffgordon j123456789 intervention interceptor \
includecatal iloveindia ilikecheese ihateniggers igeldcheat hunnybunny hubbahubba hilaryduff hhhhhhhhhhh h_froeschl7 \
heisenberg heidelberg heartagram hannover96 hakunamatata h2tmc4g358 gtnhj328903 gthgtylbrekzh gthcgtrnbdf greengrass \
greenfield gossipgirl googlecheckou goldhill25 gjkyjkeybt gianfranco ghjcnjdkfl ghjcnbnewbz ghbdtncerf gfhjkm2011 \
gfhjkm123456 geniusgenius general007 fuckoff123 fuckingshit football24 football22 football10 flvbybcnhfwbz \
fgtkmcbyxbr ferrari360 expedition evangeline eqes606898 electrical ekx1x3k9bs eghfdktybt dreamworks dollarbill \
diunilaobu8* dirtysouth dfgdrb5se4 deviceclass destination denisdenis denis12345 den1020834880 degenerationx \
dazdraperma daugavpils1 darjeeling cxfcnkbdxbr cumberland ctrnjhufpf consultant constitution computer123 comedyclub \
colchester coccinella ckfltymrfz cjybthbrcjy cjcfnmdctv chocolate2 chester123 charlotte1 charleston characters \
cgfhnfrvjcrdf cfvfzkexifz cfvfzcxfcnkbdfz cfifvfif211 cbvtycbyjrbz callscesetup bruteforce brotherhood bossyak123 \
bobmarley1 bluemonkey blueberry1 blackshadow blackangel bezparolya bestpker09 bbbbbbbbbbbb bassmaster baseball14 \
baseball123 barbariska barabashka badreligion azsxdcfvgbhn awdqseawdssa automobile ashleigh69 asdfdsasdf asdf123456 \
asdasdasdasd anniversary andrey2010 andrey1234 alisokskok alexsander alertpaydoubl alertemailms aleksandrova \
aleksandrov aionrusian agnieszka1 accountant abdullayev abcdefghijkl a58wtjuz4u a550777954 987654321w 987654321d \
89128830153 89055521933 80990606390 80969260620 80966095182z 80679047880 80672091913 80663635606 80633459472qw \
6969696969 68iypneg6u 5647382910 5566778899 54322q22345 4815162342s 4648246482 3454051maksim 277rte87hryloitru \
2507905048 2244668800 20102010ss 1qaz2wsx3ed 198919891989 198719871987 193711101994a 159753258456 159357159357 \
14bestlist 1488ss1488 1478963215 147258369q 131313131313 1302alex1994 125712571257d 123qwerty456 123qazwsxedc \
1234567899876543 123456789123456 123456789101112 1234567890l 1234567890g 1234567890123 1234567812345678 123456654321a \
1111111111111 0995359291 010203040506070809 zzzzz11111 zxcvbnm1234 zxcvbbvcxz zvezdochka zaxscdvfbg zaqxswcdevfr \
z19375481z youngblood xxxxxxxxxxxx ..xrlqiyeopco x72jhhu3za x26j12m88y wu994216433 wonderful1 witchdeath wintermute \
willywonka widowmaker welcome2suzan warcraft123 w27sv7tupf videogames vfvfyntyjr vfubcnhfkm vbhnhelvfq vbhjplfntkm \
vascodagama uzbekistan uthfcbvtyrj unitedstates turismo879 trustno1k0 truckdriver tournament theoldlady thatsright \
terminating temptation tdutymtdbx tarantino123 sysinfomsg sweetangel superstar132 sudakov1987 submissive studioware \
stonecold1 stefyebuio springsteen springbreak splintercell spellforce soso123456 sonyericson soledad321 snvd9d8q4r \
snowboarding snowboard1 snickerbar slickwilly silversurfer shovelhead shokoladka shmoogle13 shelbygt500 sheetmetal \
shapovalov shakespear sexisgreat serializatio sebastiaan scooter123 sasukeuchiha sasha050386 sanantonio samimaxi1212 \
salamsalam saintseiya s968831778s rw6sw94284 royalflush roundhouse ronorberg88 rollerblade rjycnhernjh rjycnfywbz \
rjpfyjcnhf rjktcybrjdf rhtvfnjhbq rhjrjlbkutyf revolutiontt revoluinfo123 resurrection republican repmrf1992 \
relhzdwtdf registered reflection redsox2004 redoctober qwertyuiopasdf qwerty654321 qwerty2011 qwerty1995 qwerty1991 \
qwerty1987 qwerty1234567 qwe123rty456 quake3arena qqqqq55555 q2w3e4r5t6y punishment providername productions \
processors processing princess11 prevedmedved powerstroke ponomareva pmdmscts2000 pipikpipik pipefitter photograph \
petersburg peterparker permission periwinkle perfectworld pennington penispenis password66 password321 password2011 \
password12345 parliament12345 p8sk7qrg7z opportunity olga221189 oksana1975 okcomputer nothing123 norkapril4 \
nodataincolumn nissanskyline nikita2001 nikita1999 nikita1995 ngik2ggxpg negjqgfhjkm ndjhxtcndj navigating \
naughtyamerica nastya2011 nastya1998 mycomputer muthafucka msorcloledbr motherwell motherboard mornington mobilephone \
mno571krq9 mitrofanov mishamisha miroslava1 millonario microsoft1 mickeymous medvejonok mediterraneo meathead99 \
masquerade marten7171 marsupilami marsel1986 marina2010 marina1994 marina1983 mariahcarey marguerite marcoantoni \
maprchem56458 manunited1 maninblack maksimka2134 luckystrike luba100295 lovestinks louisville longisland longhorns1 \
livingston liverpool123 litvinenko littlefoot littledick literature leon9097579 lekkerding lebronjames leavemealon \
leatherneck leatherman l8cjy83u3b kornography kolobok123 keepitreal karina2006 karambula82 jxsr000426 juventus10 \
jollyroger jogabonito jeanpierre jawbreaker jaishriram jackrabbit itsallgood isymwrapper island18pass inspiration \
inquisitor informatio industrial independence ilovlay162 ilovemymom identities i3zc3nee8o hydroptfcor hummingbird \
hornet1983 hitsbooster herooflife hellsbells hellodolly gunnerhead greatlivaja graafschap goodwrench glorfindel \
gladiator3 gladiator2 gjkmpjdfntkm gjkbyf5743 gimopoy123 gide11ok9b ghtrhfcyfz ghjdjrfwbz ghjcnjvfhbz ghjcnjghbrjk \
ghbdtnvtldtl ghbdtnfylhtq gfgjhjnybr generallee gamemaster12 fyukbqcrbq fypjhbr007dfcz007rfr fva27091994 fuxedboost \
fuckedupshit frenchkiss formulaone football21 football15 fooma091194fds fktrcttdyf fktrcfylhbz fixedbutton \
fishyfinger firefighte fire231989 fgghjrcbvfwbz feyenoord1 fatboyslim fantastic4 fahrenheit f1f2f3f4f5 f19911991f \
eyeshield2 euamominhamae equilibrium enumerator emmawatson elitedollars electronica eikocarol13 dzxtckfdjdyf \
dyenhtdtyyj dsdctujdyj dsdctufdyj drummerboy dragonlance dragonfly1 doubleplay domainlock2004 dkflbckfdf divemaster \
diosesamor diamond123 dfkthmtdyf dfczgegrby deathmetal dctgblfhfcs darkjavell9 dagestan05 d987654321 cradleoffilth \
costruzioni copacabana control123 configured conference concepcion comicbookdb1 coinstallers cnhfnjcathf clitlicker \
clean874524 chumley4870 christine1 christiane chickenhawk chicagobulls chevytruck cghfdtlkbdjcnm cdtnfcdtnf \
catherine1 carmichael capricorni cappuccino cannabis90 c0m1cb00kdb byrdbpbnjh byascyther bwcc2009new bvgthfnhbwf \
butterflies britney916 brickhouse brainstorm bobthebuilder blackpussy blackknight blackblack birthday55 beverlyhills \
bestfriends berlin1945 benchpress baseball33 baseball24 baseball13 bartholomew barbarian13 baloncesto backstreet \
babycakes1 athens2004 asdfgzxcvb asdfggfdsa asdfgasdfg architecture antipidrid anhyeuem123 andrey1994 america123 \
altagracia allthetime alexandrovna alex123456789 ajnjfggfhfn afynfcnbrf acckeyboard abc12345678 a9n87u2jved9y \
9n1vac6wgw 987654321m 9876543211 9876543210q 923650asdfghjkl 8mlzimzslmjf 8hgy16vqvq 89183891205 89105249698 \
852456852456 80503722372 80502542102 791017941s 7896541230 7896321456 7539514862 589632147a 55555aaaaa \
555555555555555 5532361cnjqrf 5236987410 4815162342x 4062056totoot 333333333333 32158900666 300cgfhnfywtd 2947819540 \
28401losali 27051993my 2419411945 234589frendz 228gfgbhjcbv 22222222222 1qazxcvbnm 1q2q3q4q5q6q 1password1 \
199419941994 1717171717 1702alex1991 1597534682 147852gogozen 147852369z 147258369z 1471214712qwe 142536475869 \
1357902468 12369874qq 123456vova 123456asdfgh 123456abcd 1234567qwe 123456789ss 123456789h 1234567898 1234567895 \
1234567890k 1234567890b 1234567890as 1234567123 12345665432 1234560987 123321qwerty 1223344556 11qq22ww33ee \
1122334455a 11223344556677 11111qqqqq 1111111111m 1029384756a 0xfhs03269 099453784sem 0989161740 09876543211234567890 \
05021991inna 025802588520 015536822v 0123456789a 010823dfcz 0099887766 zxcasdqwe1 zxcasd1234 zolushka66 zktcyn74ir \
zjlyfnfrfz zhao9622109 zcegthfynjif zaqzaqzaqz yyyyyyyyyy ytpyfqrf123 ytnegfhjkz yteuflftim ytcnthtyrj yjdsqgfhjkm1 \
yjdjnhjbwr yjcnfkmubz yfcheyfirjke ybrnjrhjvtyfc ybrjkftyrj yawdjof117 xxxxxxxxxxx xxx7847360 xthyfzrjirf xjovwwhkgy \
xcabczxabcz x5etmuwe90 x3luym2mmj worldofwarcraft woodpecker wolverine1 witchcraft winfieldsc william123 whitetrash \
whitetiger wheelchair weihnachtsbaum wegangster4lifebitch websolution warrock123 vova123456 vladik2010 vjzghtktcnm \
villanueva viktorovna vfvjxrfvjz vfvfljhjufz vfrcbveirf vfrcbvbkbfy vfhbjytnrf ver4594gss45 vbxtmuvofh vbkbwbjyth \
vanessa123 v80953054464 uv1n5tz869 usersgroups uninstallper unimportant unicorn123 unattended tylerdurden twentyfour \
ttttttt900 tralala101 toyotarav4 toothpaste tomkaulitz thunderball thomas2010 tetriandoh tequieromuch temik201600 \
telefonica tdljrbvjdf taxidriver tawny21bii tapac971111 tanya12345 taisabloom superstar1 superman23 superfreak \
sunshine12 streetking stratovarius steelseries stas123456789 starwars77 startservice starkiller staratagain \
stairwaytoheaven sportsport spongbob123 spiridonov spellbound speedracer speeddemon soundgarden soulreaver \
sonypictures solomatina softball21 soccerball snowpatrol sliveddevils ske9k9tch3r5w9s sjxrnc7e6nt silvertree976 \
silverbullet sidvicious shippuuden setupstartse setupdicallc serhthsjsth sergei2010 serega1994 serega1992 september19 \
senisevirem selenagomez sealink123 seaisle1970 scorpionking sanynokia5130 saneksanek samsung2010 samirsamir \
samantha12 sakartvelo s2fdsp8g6i s1s2s3s4s5 rutherford ruslan1996 ruslan1994 runningman rossi32575 roga4evi411 \
rockisdead rjycekmnfyn rjgbkrf666 rjcnzrjcnz riodejaneiro ridiculous rhododendron rhjcfaaxtu rhfcjnekmrf \
rfvbrflpt2011 rfhm2tpx47 rfgbnfyrbn radiance29 qzwxecrvtb qwertyuiop0 qwerty2009 qwerty1989 qwerqwerqwer qwer123456 \
qq11556666 qazxswedcvfrtgb qazwsxedcrfvtgbyhn qazwsxedca qazwsxedc12345 qazwsx1985 q1w2e3q1w2e3 q123456789q \
q123454321 pussymonster purplerain punknotdead ptktyjuhfl programist prigoda25392637 prezervativ prewedpoka \
pqowieuryt pppppppppppp poseinfopas porsche944 polzovatel polinochka polina2001 pleazcufme pikkunappi9c pianoforte \
pi31415926 physicaldevi pervertikal peopleshit patrick123 password77 password2000 password09 parrothead parol12345 \
parishilton paradiddle panasonic1 pakistan123 ozymandias outrageous oreocookie optimusprime ooglyoogly onetreehill \
onedirectio olegstan1980 oiv3bh7356 nuttertools1 nuqyihyz85 ntktajyxbr nomorenavy nokia12345 nobodyknows nitrodude14 \
nikolaevich nikitanikita nicole1268 nickisdick nickcarter nhjkmnhjkm nhfvgfvgfv newfoundland netfxsbs10 netddedsdm \
netbilling nellynelly nationwide nastolatka nascimento mysterio619 mypeinfedef myfuckingpwd multiprocess \
motherlode123 morgenstern minasgerais middlesbrough michaeljordan mercedesbenz mercedes600 mementomori mataclsea86 \
mastermaster marinecorps marilynmanson madeinxpain ..lzkihcswipo lovemetender loveandhate logitech123 liverpool1892 \
landcruiser kristinochka kolokolchik klop1999666 justinkislyanka judaspriest jimihendrix jesus0077993 jacksonville \
jackandjill interpreter internet123 internationa internaciona intelligent installwmp64 installenume ingaforptfcor \
informatika informatica iloveyoutoo ilovecomics ikhouvanjeomer12345 identificati huckleberry homosapiens homersimpson \
holacomoesta highlanders hfpheibntkm hesoyamhesoyam hesoyam1997 herjkf33978 harleydavidson happygolucky \
gygypyfyyyposhy gthdjghbxbyf grandmother golovolomka godzillaslpo ghtlghbznbt ghbukfitybt ghbdtngjrf1 ghbdfnbpfwbz1 \
ggggggggggg fyfcnfcbz09 funkymonkey fuckherface fu082508251 forester1377 fj6544fjdfj fatamorgana ewelina6814838 \
everlasting ensicptfcor elenagilbert ekmnhfvfhby ehbyjnthfgbz drift89094072877 dreamtheater don'tremember \
dnepropetrovsk dkflbckfdxbr disksvolumes dirtybastard directoryser den121255555 demon021295 deletecurren daniel12345 \
cthutqcthutq ctdthysq777 ctdthjldbycr cristianoronaldo corporation corperfmonex cornerstone complicated communication \
collingwood cnjvfnjkjubz cmdevtgprov cjkysirjvjt checkinglevel cfifcfifcfif cbvcbvjnrhjqcz carpediem69 capricornio \
california1 browniesunda brassmonkey bountyhunter blackpanther bkw28hefex3 bittersweet beastmaster bassingwell \
bakersfield atyourbusiness associazione ashleysparks asdfgqwerty asdfghjklzxcvbnm asdfghjklzxc asdfghjkl123456 \
arsenal1886 annihilator angel2726722 anetov_32541 andrei12345 aleksandrovna akunamatata aiculedssul aaronfg1987 \
aa123456789 a1a2a3a4a5a6 98959636987 9279807412ss 9279807412ddss 8dagycf9ldtf 89636225581 89514845466a 89223105865 \
89185354047 89081858374 80989877991 80987630910 80502824904 80502354942 80484971237 80173130022 7e9lnk3fc01 \
753951852456 74108520963 666666666666 6200595tach 5668nitram10 4rfv5tgb6yhn 4904s677076 321673216732167 235101i9ddv \
220790140907 1z2x3c4v5b6n 1vfhufhbnrf1 1qw23er45ty6 1q2w3e4r5t6y7u 1a2b3c4d5e6f 199649316zed 198219821982 \
123reconect312 123qwe456asd 123cbybqrbn 123bfg123bfg 12345qwertasdfg 123456789xxx 123456789rr 123456789qwertyu \
123456789ira 123456789abcd 123456789ab 1234567890qwer 1234567890qweasd 1234567890e 1234554321d 12344321qaz \
123123456456 121314151617 112233445566778899 102030405060708090 102030102030 09092009sophie 09001286772 06081982h@d! \
0551144kolya 05364335845 03224821016 030169dennis 0147896325you 01020304050 zzzzzzzzzzzz zxcvbnmnbvcxz \
zxcvbnmasdfghjkl zxc123456789 zms7er6nzsr zealot4life zcfvfzcfvfz zaqwsxcde123 ytljgthtgbk youngandrestless \
yjuufyjbuea yjcnhflfvec xkzwnuxkdn9a8kcykuitbkg1g xf6cmqlrpeuhjuvv xdlig7e8wqz wsxz3823922163845 worldoftanks \
winresponse1 whysoserious wbdbkbpfwbz vladikavkaz vkontakteru vitalik1994 virginiatech violoncello vfwyeuv6aueh \
vfksirf2409 vfhbjytnrf2 vfcnthbvfhufhbnf verkot492934 venividivici vbhjiybxtyrj vbhjdjpphtybt ultraviolet \
ujujkmvjujkm uchihasaske twentythree trueblue123 trickydick69 triagrutrika trailblazers tlbycndtyysq timberwolves \
the1andonly tenstoreys3 switzerland sweetcheeks supersonics supersaiyan successfully streetfighter strangelove \
stoolsample sterlitamak spudnick006 southafrica sonofabitch somerhalder slonyaka082367 slava5sandr5 skywalker1979 \
sexsexsexsex severomorsk setupopeninf setproductid setcurrentpr serenitynow seregaserega serega12345 selfsigncert \
seifenkiste sedevacante secretsecret scesetuproot sasha_10_11 santabarbara samsungkoze176351 russia18rus rosbergnico \
romario1985 rododendron roadwarrior rjylhfntyrj rjhjktdcndj rhjzp59vnq00 rhenjqgthtw rfrjqgfhjkm rfrfirfrfrfirf \
rfkfiybrjdf rfhbyfrfhbyf retsamoen123 remotedeskto relaxwebbewxaler reanimation readdataport raoyu1359760 \
raijmakers313 qwertyuiopasdfghjklzxcvbnm qwertyuiop1234 qwertyhgfdsa qwerty1234567890 qwertasdfzxc qwerfdsa123 \
qwegta13091990 quant4307quant4307 qqwweerrttyy qqqqqqqqqqqq qazxswqazxsw qazwsx123edc qawsedrftgyhujik q1a2z3w4s5x6 \
pussyisgood psychedelic professionaltools privetkakdela pornslinger polisterman poiuytrewq1 petruyuiyuf perspektiva \
pcrmcfnsoqw+ password999 paralelepipedo paracetamol pamelarafter pakistan786 overwhelming oljaivanova nymphetamine \
ntnhflmcvthnb njxrfrbgtybz njkmrjlkzvtyz nicholas123 nhteujkmybr nhfycthabyu nhfycajhvfnjh neverforget nekronomikon \
nbwnbw258789 natasha2010 natasha1994 mychangeserv motorola123 motherfucke mosquito@13 morningstar monkeyballs \
moneymaker1 modernwarfare mnogotochie mmmmmmmmmmm mmmmmmm2000 miguelangel mercedesw202 mazefaka2009 matiasjerez123 \
mastercraft market892892 mandermka112 maharashtra ludicgirls2 luckycharm2 lsjkfghkj45kjh loveandpeace lol123456789 \
ljh345ljh3577 liverpool10 littlejerry liaandsonya11 lbaathtywbfk la123456789 kyk1rbk1hbw0uqkckwbh kristina2010 \
kristina1998 konstruktor kirill12345 killthemall killerpilze killerkiller killer32145 kbytqrfufdyj kazantip2009 \
kalinkamalinka junkyard129 jshao420788 jerrygarcia jamaika2010 jabbawockeez interesting installwmfsd installutill \
initializing incrediblereview imperia2010 immobiliare ilovetofuck ilovemymother ilovemykids ilovemother ichliebedich \
hvergelmir7 howardstern hoperzone13 homesweethome hoffenheim2008 hgdxtgttgfdtdtes hfprhbdeirf herpderp123 \
hellogoodbye hbrbnbrbnfdb happynewyear gwiazdeczka gravedigger granturismo grandtheftauto gorelova2009 goldinfo1975 \
godverdomme01 gnthjlfrnbkm gjrtvjygbrfxe gjkbghjgbkty gjgeufqhjvfyfzif ghtphtybtcerfv ghjabkfrnbrf ghbywgthcbb \
ghbyn1ghbyn ghbyc123654 gfhjkm12345 gfhfktkbuhfvv gerasimenko garrypotter fyfnjkbq777 fybvfcnth07 fundamental \
fuckyourass fuckthisshit fuckthesystem fuckingfuck foreveralone foofighters flatronf700p fkajfhsgt19pot fieldhockey \
fenderstrat fank10011996 exbntkmybwf enterprise1 encyclopedia ejxjzgbgunaz9z6j6exbniqga eatmyshorts dzxtckfdjdbx \
dskscsgslscns dragonballs doggiestyle dingleberry dima324315198540 dima123456789 dfvgbhdfvgbh dflbvghjrby \
dfktynbyjdbx development derr6565852 derevorulez derbycounty delanoteslik defil3dsmdme deadmanwalking dbzursitesux \
dbyjuhfljdf damnedworld cunnilingus ctdthjvjhcr crackerjack coolermaster cookiedough connecticut configuring \
configuratio compatibility communicatio cnfhsqgfhjkm cloudstrife cliegaliases classdescrip ckjyjgjnfvs cityofangels \
cinemabizarre ciaociao1234 chocolate12 chiebradrieri chester1220 cheekymonkey cgjrjqcndbt cgbhbljyjdf cbhtytdtymrbq \
catinthehat castlevania callofduty123 butterscotch butlerandsly bullmastiff buenosaires budakpandai80 boomersooner \
blood100101 birthday424 biochemistry billclinton bigtimerush best123admin bellybutton basketball2 bar588bar588 \
bamor123456 b7b7vhig5ij5 awesomeness ashymipoutr asd515wasya asd123456789 arquitectur armagedon666 apocalyptica \
angelalways allahisgreat alexandrina alexandre199 albanycolonie aezakmiwanrltw advertising adomdreadme adminconfig \
accountblock a270ye13rus a1s2d3f4g5h6j7k8 a123456789z a1234554321 a112233445566 a0987654321 9067755344a 89610016824 \
89606469196 89520727541 89502090940 89262572372 89218133426 89118637920 89085030336 89065147454 88317025885 \
80979057356 80978288796 80974400365 80969686976 80955328095 80951790253 80679456691 80673945177 80672829473 \
80666504123 80665661869 78945612300 75508369202 665544qwerty 654321654321 53433553hjvfy 48625123789 47892knjq333 \
430-43-034- 3rjqdxcnmrc568 3561864546w 280473181rx 252525qweasd 201020102010 1z2x3c4v5b6n7m 199719971997 1995lis1995 \
19684sheperd 1533355ddddd 14slava0797 14881488wpcc 148814881488 14121995vlad 13rhfcyjlfh 123zxc123zxc 123dolchie098 \
123654789zx 123654789qwe 123654789fgt 1234qwer1234 12345a12345 123456abcdef 12345678qwertyui 123456789zaq \
123456789qazwsx 123456789my 123456789lox 123456789lol 123456789lena 123456789kk 123456789ivan 123456789cfif \
123456789alex 123456789852 1234567890t 1234567890qqq 1234567890i 1234567890f 1234567890c 1234567654321 12345671234567 \
12345654321z 12345612345 123321123456 123123123qwe 11cib22ru33geg 1122334455er 11223344556677889900 11111111112 \
11111111111111 10203040506070 00212100vova 0000000000a 00000000000 zzzzzzzzzzz zyjwrprscnwv zxcvbnm12345678 \
zxcvbnm1234567 zxcvbnasdfgh zxccxz85265493 zxc123zxc123 zs3vs23zs3vs23 zolushka122 zeus7169-ladidadi zaq12wsxcde34rfv \
zaq12wsx3edc ytrhjyjvbrjy ytrewq123456 ytgjdnjhbvsq ytghjcnjnfr ytdpkjvftnt yjdsqujl2009 yjdfzcnhfybwf \
yfltymrfxgjr0707 yeahyeahyeah ybrbnfybrbnf yanshi1982a y6t5r4e3w2q1 y5hjkdg82490840 xxxkthf00ru xxx48562xxx \
x777261718x wwwwwwwwwwww wpwp5625382q wonderland1 winston2010 winniethepooh williams123 wildwildwest whiteshadow \
whitekoma212 whitedragon webcrackers warhammer40000 wahyqu5u7ena w987654321w w0a1ni0604de vrotmnenogi vlad0685414688 \
vjqvfktymrbqvbh visualbasic vincecarter vfzrjdcrjuj vfuybnjujhcr vfrcbvrf123 vfibyfvfibyf velociraptor vekmnbahern \
vdohnovenie vbhfakjhtcn vasyapupkin vaitomanocu vadimhacker uzumakinaruto untouchable universitet universalnyj \
understandin ujkjcjdfybt uhtxfcvjkjrjv ufa35forever twoawwozmnm tttttttttttt trytologin86 true7521478957 triceratops \
trance4life toyotacamry totototo123 tonymontana tomandjerry tnasljohxfysa thunderdome thundercats threatening \
thermaltake thegreatest tetragrammaton terminator2 terminator1 temperament techsupport taylorswift taokhongbiet \
tabletennis syncmaster710n supergummby success2010 stronganuta streetracing startspooler stalkerstalker stalker1995 \
ssssssssssss spiridonova spiderman123 spectrumsonline spartakmoscow spartak2010 sosca6661254 soldatenko20 slipota1994 \
slaptazodis skakalka199218 silverchair signature673 severodvinsk sevenofnine setactivepwr serega58rus sera19930220 \
sentimental seniseviyorum senbonzakura sekret199502 schoolsucks schastlivaya schallapatapan saturdaypnb sashka159357 \
santiago123 samsung2011 salernitana s1e2r3e4g5a6 ruslan12345 runescape1995 rsc512663995 rr231982w111 romko160392 \
rollercoaster rjylhfnmtdf ringedtits2004 rfhnjuhfabz rfhfdfyrfhbyf rfewtww5tgregtr renaissance recruitment \
reanimat321 rakkausrunot raggamuffin qwertyzxcvbn qwertyui2000 qwerty123qwerty qwerty100500 qwerasdfzxcv1234 \
qwerasdf1234 qwer1234qwer qweasdqweasd qwe123321qwe queteimporta quarterback qqaazzwwssxx qefender098 qazwsx123123 \
qaz123qaz123 qa8916820123 q1a1z1w2s2x2 purposeful1 purplepower pumpkinhead psetupinitre prokuratura programmist \
programmer9 programmable profesional principessa princess123 prettywoman precompiling pravoslavie poltergeist \
poliklinika plhfdcndeqnt pjclalamusa pirojenka77 phztca63f9zu petrozavodsk peternorth1 personal123 permissions \
perestroyka pedrolucasmunhoz pciide0chann password420 password2010 password2002 parisfrance p0pmagicwd* ovchinnikov \
ourbusiness orochimaru1991 orientepetroler orangejuice oracleclient optionaldirs openthedoor onlyone4-myxworld \
oldtrafford nurregulle95 nosforeverever northampton nobodynobody nizhnekamsk nintendo123 nineinchnails nightstalker \
nhfyrdbkbpfnjh nhfycajhvfwbz newyorkcity never32been16 nbkbvbkbnhzvlbz natasha1993 natasha1978 natasha1971 \
naotemsenha n1234567890 mycompnetwork muslim0626461997 musicislife murattiotti msjetoledb40 motorola1234 moshatinkor \
montarios77 mmmmmmmmmmmm mmano088700 misterzaklady misericordia minimaltrust minimalinsta millencolin mightyducks \
metropoliten metropolitan medalofhonor mechwarrior mchedlishvili maxensam123 maxamillion matrosova27 matematicas \
masterpopov masterpiece masterblaster masha123456 martirosyan marshmellow marshmallow marseille13 markpnpdevic \
marina12345 marik322424644 marihyan911 mariaeduarda marcoantonio mania231188 m1a2r3i4n5a6 ltybc7327857 ltqcndbntkmyj \
lovesthecock love123456789 loseyourself logpidvalues lkbyysqgfhjkm lionelmessi lfhbyfjcnhjd lexx1029384756 \
letmein2000 lemuel913110 lacedmeone86 kzryzptdf573 kwiatuszek1 kvaracxelia kuni42kuni42 kristina1995 kolo__1kolo__1 \
kokakola123 klsdfj46546 klmnopop123 kingofkings khuljasimsim khachatryan kbkavgfcabwda kazancev192 katerina1990 \
karatel54852 jxtymghjcnjq justin123951 joydivision jlyjrkfccybrb jkbvgbflf80 jetmir12345 jesuslovesu jesseluotonen \
jeejee12312 jean-pierre javaxishvili janetjackson ipwnroben123 internazionale intercooler installwmdm installpersi \
initializati ilyuminnaciya iloveyoupker iloveyoubabe ilovemyschool ilovefootball illuminator ifynfkmghbvv44 \
idedevicep2t idedevicep1t ibrahimovic htutcnhfnehf hswfhmcvthnb hogtieddazed hjvfytyrj95 hjvfyjdhjvfyjd hjccbzxtvgbjy \
hiltonptfcor hesoyamaezakmi herrderringe hellfire1990 heatoclevaedr36 hbyfntq1986 haveaniceday hastings1066 \
hastalavista hassan030894 harrypotter1 hammersmith halliburton gwenstefani guilherme123 guilherme12 gthtpfuheprf \
gthtgjldsgjldthn granadaptfcor gqlsstfhqgwwvqxjx gordolee85-mac2olli goody2shoes goldielocks gnbwfcxfcnmz glastonbury \
gjuhfybxybr gjrtvjyxbrb gjkmpjdfntkm1 gjkbrkbybrf gjhjkmgjhjkm ghtlfyyjcnm ghtgjlfdfntkm ghjwdtnfybt ghjktnfhbfn \
ghjcrehjyjbl ghjcnjrdfityj ghjcnjnfr123 ghjcnjgfhjkm1 ghfdjckfdbt ghblehjr111 ghbdtncndbt gfnhbr787898 gflibqfyutk \
gfhjkmghjcnjq gfhjkmgfhjk gfhfwtnfvjk gestioneweb genovese001 gcvgrvuut5v6er gbpltwgfhjkm gbplfnsqgfhjkm1 gac80896706 \
g5h6j7bvh98 fuckyourbrain13 friendofasp frenchfries freightliner fordmustang focusrs2006 fluminense1 fireballxl5 \
finishthread ffffffffffff felixthecat feathertextu fdnjpfgxfcnb fdfnfhrf6666 fcporto74150 fadetoblack expanasion12 \
eventlogmess eusoumaiseu euq8pvhrnpssdymizqx+ eropokereropoker ereyes4269-ryan1199 epevfrbyfhenj enterprisese \
engine1995ass empireearth eljdjkmcndbt elior20052482 electrician ekaterinburg egew5twt3tgh65y efbcapa2010 \
eagle1110-stimpy dynamicupdat dwers232wds dust360271212009 dtcyfghbikf dsgtylhbdfntkm82 ds6tetsfdsrfdfgd driversignin \
drerhgeegehr dragonfable donkeypunch dkfcntkbyrjktw djnrfrnjnfr djkujuhfl34 diskst312002 directories dfktynby1986 \
dfkmrbhbz1972 dfdddf45fdgh deviceinfose departament denis123456 demonhunter deathwalker deadoralive dddddddddddd \
dbzmorpheus dbrnjh572202 dataperfcoun dangermouse dallascowboy daggermaster d2a3n4i5e6l cshvtxvfhr6 crystal8970 \
crosscountry convertible continental contentpass consumercomm constantino confidential coneyhall24 cnhtkmybrjd \
cnfybckfd1900 cloeandzoey classof2010 clandestino cjkm14881488 cjdthityyjctrhtnyj cirmikzaken chronocross chelsea1905 \
cheguevara1 cheeseballs charliebrown changed_due_to_fraud cfirfrfrfirf cbyuekzhyjcnm cbvathjgjkm cbkmvfhbkkbjy \
cb3be910b65 caramba100500 can'tremember callrunoncea c3hfpyteuflftim ..byvulwjjrqg brownbrown01 britneyspears \
bostonredsox bootylicious boilermaker bodybuilder blockbuster blessings888 blademaster bladedancer blackjack21 \
blackestnight bitchplease birthday333 bilbobaggins bigblackcock bezopasnost beetlejuice beastieboys baura-megapass \
basketball11 bartbartbart barcelona12 ballantines bajenfans34 bagautdinova babywkasta2 b74cx6qs7328 azsxdcfvgbhnjm \
auburntigers atsonlinejobs aspirine123 asdfghjkl111 asdasd123123 asd123fgh456 arhangel9797 application apolinariya \
anulikdenya angelofdeath andrew1o2p3e4n andreiandrei anderson123 anacristina americanidol al#ks3!ksj0xx alinamalina \
alexandra12 alexander23 aleksandrovich ahernjdsqcfl agiljuliandra ageofempires agatakristi adolfhitler adminscripts \
adminlol1982 administrati adidas12345 activationre aceofspades abretesesamo abramovich1 abprekmnehf abcdefg1234 \
aaaaaaaaaaaaaa a4815162342 a3531534b413 a1b2c3d4e5f6 a1234567890a 987654321987654321 987654321123456789 987654321123 \
89641891702 89636511322 89605348757 89515145435 89503102616nss 89279981879z 89278246747a 89277216066n 89242468508 \
89224371020 89208012008 89161352202 89092816599 89066703835 89061576631 89056288231w 89055254622 89032068253 \
88053023031 85fg754kl62br853lpq7 852456753951 80986677668k 80984146524 80979534611 80966800675 80958753328 \
80938381350 80925819988 80684485642 80675276183 80673908080 80669451478 80666744364 80663156459 80661052430 \
80637029772 80635711526 80508253032 80507655765 80506721889 80432433168 771512cherniy 74261700027 741852741852 \
61106061106 6050picasso 5t6y7u8i9o0p 557788loveaoi 55555555555 4815162342d 444444444444 415263748596 380434522575 \
36130911cl1 3175671tdutybq 31504244life 31415926535 2sexy2hottoh2yxes2 29893536werty 28ros11bri67 28lytqcgecnz \
272270271983 27071996pasha 266534597157 26540292450 258456789qazzaq5 2442293live 240295yuppi 224909224909 \
200120012001 1xpx66blrumblst6bbus3 1qazse4rfvcxz 1q1a1z2w2s2x 1a2s3d4f5g6h7j8k 199319931993 199119911991 198319831983 \
197819781978 17pubpathuk 17101993and 159951357753 159753qwerty 159357258456 15426378zil 1503900qwas \
147258369147258369 14051997sergey 14021992004urban 1374653317652 12qwaszx34erdfcv 123war456rus 123qwe321ewq \
123qwe123qwe123 123qaz123qaz 123password 123joker777 123computer 123789987321 12369874123c 12358132134 1234567qwer \
123456789zxcvb 123456789yfcnz 123456789vika 123456789ru 123456789roma 123456789qwertyuiop 123456789mm 123456789max \
123456789ma 123456789love 123456789dima 123456789dfgh 123456789den 123456789az 12345678912345 12345678910z \
12345678910a 1234567890qq 1234567890n 1234567890anton 12345678909 1234567890123456789 123456787654321 12345654321q \
123045607890 111122223333 1111111111111111 10203010203 100490100490 0p9o8i7u6y5t 0k1o2v3a4l5e6v7 0987654321z \
09035170147 053aruspra350 04398004616 04061963maryan 030166ase90 0123456789z 0102030405da 010203010203 \
00rdtsau4leyzunckj121dwm 002543200254 zxcvbnm123456 zxcasdqwe12 ztn3tourney1 zrhenjqxedfr ziablw4u00bq zhjckfd2010 \
zghjcnjgfifujleyjd zcfvfzcxfcnkbdfz zaqwsxzaqwsx zaq123456789 zahrfn3orqa zader123123 z22226270525 z123456789z \
z0mfgwtfuxlol yyyyyyyyyyyy yukitommary ytjcgjhbvsq ytgjdnjhbvfz ytdpkjvftim ytbpdtcnysq yjdsqujl2011 yjdbqgfhjkm \
yfnfkmz1983 yfhenjepevfrb yfcnzyfcnzyfcnz yfcntymrf5294 yamakasi123 xzxzzxzxzca xxxpasswords xdkursym89tm \
x4cc355b10wsy0urm1nd www123456789 wwe23015wwe wuyoukuaile756 wonderfullife wonderbread wnanstns2108 willian22049 \
whiteknight whattheheck westcoast4646 wellcome1991 welcomtohall webdesigner warhamet2014 wad559523wad vyjujcgthvs \
vtyltkttdrfrfhf vtkj1893vfy vsebudethorosho vovaderkach volgograd34 vmb2079002347 vladvladvlad vladivostok2000 \
vladimirovich vladimir123 vjzcnhfybwf vjqyjdsqgfhjkm vjltkbhjdfybt viktoria2010 vikavikavika victoria123 vicky140585 \
vfvfghjcnbvtyz vfvbyfljxrf vfubcnhfnehf vfrfhjdjktu vfrcgfyr666 vfrcbvbkmzy vfqkbcfqhec vfkbyjdcrfz vfifbvtldtlm \
veterinaria veronika2010 veronika1998 veronika123 vekkfufkbtd vecekmvfyby vbycbytzhfnfv vbrhjdjkyjdrf vbhdjdctvvbht \
vasilchenko valerkolomakin valeravalera valentinchoque valentina18 vadim159753 vacaegalinha v3xdmta9hcsm v3ss4neeker1 \
utkanos2009 untouchables universitario universidade ulrace173rfhgjd ujcelfhcndj ufdyjlfdxbr udovichenko uchihamadara \
u5j68dq0kve turkmenistan turbocharged tuputamadre ttdlnhttdlnh trustnoone1 troidaysao1 trinity1331 trinitrotoluol \
traveker2011_ trailblazer trahtenberg toyotasupra tos27071991 tomislol123 tombgimmost todopoderos tobeornottobe \
toalet6rensare tnssanuam786 tinkerbelle timekillerss thrytouille threedaysgrace thirtythree thedarkness \
teshka_poltavka tdutybq1989 taxuganoman syncmaster940n syncmaster920n syncmaster913n swordmaster svetlyachok \
svetlana1984 svetlana1980 supertoronja4 supernatura superman2010 supercutekawaii sumertime117 suh1584dswk9 \
suckmyarma69 subaruforester stukjehout12 stripclublist strawberries stratovariu stratosfera strangerpnb straightedge \
stormbringer stitchpuller steppenwolf stefandeflo steelwheels starwars2000 stalker2033 stalker2011 stalker1997 \
stalker1986 stalker1234 ssssssssssssssss sssssssssss srs8520456s squarepants spiderman12 speechengine spatarikanec \
spartaque312 sovershenstvo southside13 soulcalibur sopmyncmymn solnche2704 sobrenatural sniperelite snapeprince \
smolinnikita smokingkills slavatyn007 slava6617644 slava060998 skyline2580 skv20111996 skorobogatova skanderborg \
sinhrofazatron silvidvebuio shavedpussy sharpshooter sharo3taylor shalomshalom shaforost22 shadowmaster shabandaryant \
seveneleven setupdiinsta setupdigetcl setlocalcif setlanguage servicedatab serverapplia sergio12345 sergey12345 \
sergei199428 serg3216767 serega53983 september23 september11 seniseviyoru seinfeld123 secret12345 sdsfdgnd3jl5lv \
sdjk985dfkjg scsenia911911 schildkroet scarborough sashasashasasha sasha1993150205 sasha123456 sanfrancisc \
sandiego619 samsungr519 samsungc3050 samsung2009 samsung2000 samsung12345 samsung1234 samireliyev salomsalom1 \
sagnintendo sagminimoni sagbinladen sadfsfaasd123 s1234567890 russelliniy ruslanruslan runprograms rumpelstiltzkin \
ruellovedada1 rubberducky ru4btrpnkokgeq rtyufghjvbnm rosesarered rompecorazone romashka1970 rollingstone rockyhorror \
rocksmysocks rockdisplace robertrobert rmracinggnicarmr rjycnfynbyjdf rjyabuehfwbz rjvveybrfwbz rjkktrwbjyth \
rjhjcntktdf rjcvjgjkbnty rhtcnjyjctw rhfcyjujhcr rhfcyjgthjdf rhfcjnektxrf rhenjqgfhjkm rhbvbyfkbcnbrf rhbcnbyf2003 \
rgihlxoyoclmgiqsu rfktylfhbr123 rfkbyrfvfkbyrf rfghbpekmrf revelations resurection restoration restinpeace \
resel999675 repromarket relation666 regularexpre registering registerdevi realmadrid7 realmadrid10 realmadrid1 \
realamateur rdl04121957 rdewulzvchjz rbkbvfylfhj rammstein12 rainger-493949 rainbowskittles radiotehnika qwertyuiopas \
qwertyui123 qwertyu1234567 qwertyklava qwertyasd123 qwerty12341 qwerfdsazxcv qwer123qwer qweasdzxcrfv qweasdzxcb7 \
qweasdzxc123321 qwe1qwe2qwe3 qwe123q1w2e3 qwe123asd456 qwe123456789 qwaszx123456 qwaszx12345 qw123456789 questpistols \
quant430799 qrafzvwesdxc41 qqwanrltwqq qqqqqqqqqqq qazwsxedc1975 qazwsxcdevfr qazwsx13579 qawsedrf123 q1w2e3r4t5y6u \
q1q2q3q1q2q3 q0987654321 pyfvtybnjcnm putanginamo pussygalore purerf545454 protection1 prostoyparol prostoparol \
prostitutka privetprivet privatejayla printscreen premiumpass prd489cledy praetorians poweroflove posnanie508 \
popovich250293sanek poopiebrains poochunk1993 poncedeleon pomapomapoma polytechnic polinapolina polikarpova \
polaroidw34 pokemon1234 poiuytrewq8008 pnuematic69 pkfnjdkfcrf piri1233445585 pinkpanther phzv5rtfpkwc photographer \
perspective perfcounter pekanidze12 paycom013002 passwordsex passwordpnb passworddrowssap password777 password666 \
password2009 password1981 password@123 paralelepiped paganizonda p3i2p1p3i2p1 p1959n1984x ornitorrinco opusdeijunior \
onemoretime onelovekv9293 omegamircolaura olek122333400 oksanamalushka ognimcm5615 odnoklassniki odnoklasniki \
odinochestvo odessarostov odessamama69 oc80969496479 o0986699983 nwcpodracer nv0905198516 nuncateolvidar ntvgthfnehf \
nottingham1 nolovefound nn8n8bn8bn8b nissan240sx nintendowii nikita9609595982 nightingale nickelodeon nhfypbcnjh22 \
nhfycrhbgwbz nguoitoiyeu nfvbkjxrf1975 neykohiyaji newyorkmets newlifebegins neversummer neuromancer netclientfil \
nejcpass123 negjujkjdsq negfzvfkjktnrf necromanser ndbyrbndbyrb navuhodonosor navigate080 naughtygirl natasha1995 \
natasha1974 natalinatali nastya12345 nastradamus narutonaruto mythbusters myliveisjail mychemicalromance myassishappy \
mutherfucker mushroomhead msdasqlreadm mreeanagamy mousekevitz motorola398 motorcontrol moshatinkor1 mortalcombat \
montypython montgom2409 monterrey69 monstermash moneyfornothing moliavochka mol8leks24kr mogilev368088193 \
moedzkhhyfonq modernwarfare2 mnbvcxzasdfghjkl missy278136 mihamihamiharap mightydragon13 microsoftraw michael2000 \
michael1985 methamphetamine metallica123 messygirl-girlmessy melbourne70 meilesjegaxxl mazafaka123 maxver199317 \
maximillian maximca1997 maxhardcore masterbator masterbation masseffect2 maryjane420 marishka123 margaritka1 \
mamay19891707 malicemizer magicolivorno magda020371 maertracque1 madscientist madeinheaven madagaskar94 machinehead \
m0therfucker lxgiwyl130795 luisfernando luisfernand luckycharms ltlvjhjp1060 ltdeirf1987 loverboy123 loveisgreat \
loveandsex1 lordgyeah51 lopeliuksas lollerskates lolfriendslaugh lisadumon842 lightinthebox lfiflfiflfif \
letadlo741852963 lessthanjake leraleralera leavemealone1 lbvfvzcybrjd lavieestbelle lavidaesbell lalalalalala \
l33tsupah4x0r kzcmrbvfczcmrb kuroshitsuji ktnjjctym228 kristina1997 kristina1993 konstantinos kolechka090619 \
kogytmagnym007 klbik87987974 kirill04101996 kingsofmetal kingdomhearts killingspree kienan22071998 keyfrhfcjnrf \
kaiserslautern juytneibntkm juliette2000 johannesburg joabe_50cent jktrcfylhjdbx jklasdlj2312 jjjjjjjjjjjjjj \
jets714417ny jenniferjennifer jegerikkedk123 jeffgordon24 jeffersonlibrar jackinthebox j7a5c4k4s5o7n iwillfuckyou \
issue43-alaina isakov7roma7 ira123456789 intelpentium intelceleron installlegac installinter installation \
initialiazat infinitywing infinityward iloveyou2011 iloveyou1994 iloveyou1234 ilovethisgame ilovemyfriends \
ilikechicken ieexecremote iaxe105-lanceman iamthewalrus iamsuccessful i210c844q523 htrdbtvgjvtxnt htcnhernehbpfwbz \
hjnjhhjnjh123 higtveteran11 hhhhhhhhhhhh hh775755757g hgfedcbaabcdefgh hfpyjcbkf839 hfpubkmlzq80 heckfydrjynfrnt \
hbptyiyfewth harmankardon happytreefriends hanterstrely hannahmontan gunsandroses guimodedebug gtnhjgfdkjdcr \
gthlbvjyjrkm gthdjvfqcrfz greatbritain grandchildren gjlgjkrjdybr gjikbdctyfabu gjcktlybquthjq ghtcnegktybt \
ghostbusters ghjybryjdtybt ghjuhtccfnjh ghjtrnbhjdfybt ghjrkznbt666 ghjotghjcnjuj ghjivfyljdrf ghjcnjrhbdjq \
ghjcnjqaz123 ghjcnjgbjyth ghjcdtnktybt ghjatnghjatn ghbdtnbrdctv ghbdtn123456 ghbdfnbpfwbz gggggggggggg gfintnqqq333 \
gfhjkmgfhjkmgfhjkm gfhjkm123456789 gfhfktktgbgtl gfhfkktktgbgtl gergdsfgedhjdrg generalsetti gbpltwgbpltw \
gbplfnsqgfhjkm galatasaray2 fyutkbyf2007 fylhtq555726 fyfcnfcbz2006 friendsforever friedchicken freepornsource \
frederikshavn fountainhead football**** flatronf720b flatronf700b flamethrower fgjrfkbgnbrf fghjrcbvfwbz \
ffd0fdd6cbf01 fernandotorres fedcbaabcdef fdsg5485lhn5 fdnjvfnbpfwbz fantom241093 faizarecords facetoface77 \
f1x753951753951 eybdthcfkmysq eyaze3mpkzns euteamomuito euteamodemais eubkmhf8gzik euamominhavida entershikari \
englishman36 elvispresley ekmnhfabjktn efwewefwewer edlx9ti3blifme eapfeilstick e8ip48iseh81 dumspirospero \
duinstallupd dtkbrjktgysq dron24122004 dragonmaster dragondragon dragonballgt doppelganger dolcegabbana doityourself \
dodgecummins dna123zebra1 dkflbvbh1988 djpdhfotybt1992 djdfhekbncgc djccnfyjdktybt dimadimadima dima12345678 \
dickdickdick dfgys34ds432sd dfgdfgdfgdfg deusdoimpossivel dementor1994 demben424444 defaultwsdlh ddtlbntgfhjk \
dctgjkexbncz dbzmicrosoft dbzearthlink dbrnjhbz2010 davidg63_2000 davidarenson davegrantbrown dashka25061997 \
dashakakasha darkside1989 darkmagician danilka123123456 danieldaniel damienlord12 d6v1n41d6v1n41 czcmrbvfczcmrb \
cyjdsvujljv10 custommarsha ctrcvfibyf132 cthutqsergey crusadercrusader cristianoronald crash3823776 coolerblik56 \
cookiemonster constellation configwizard commonwealth commoncommon cnjghjwtynjd cnhtkmybrjdf christoffer1 \
chiyeuminhem cheaphornybastar chapmanpk1995 cgjldsgjldthnjv cgfcbujcgjlb cfvjythajhtdf cerfytktpmdfrr cerfcerfcerf \
campbellsport calcavecchia byyf1991vensuper bynthathtywbz buffysummers broadway2012 boosucka-wanger boogienights \
bnimdasflgbnq blonda229404 blessthefall blacksabbath blackman57512 blackandwhite birkjen-jengele bigdickdaddy \
bigdaddyal20 bertandernie bendis-chrisbln belomorkanal belochka090619 bellatlantic be92nj74am56in bcnjhbzhjccbb \
battlefield3 bassingwell1 bassingwel99 basketball12 basketball10 barracuda20876 barneyrubble balloonssnoollab \
avengedsevenfold assemblylist assasinecreed ashleywilliams2010 ashewitt2003 asdfqwer1234 asdfghjkl12345 asdfasdfasdf \
asdasdasd123 arquitectura apolloapollo antqueen2010 antiapantiap annihilation anjingsemua1 anhyeuemnhieulam \
anhchiyeuminhem andy73taylor anderley2011 analintruder ameedlove123 allyouneedislove alinkamalinka alhamdulillah \
alexalexalex alex20071995 aleks1236556321 alejandro123 ajw4za9teycv ahfyrbyintqy agresor201124 afterforever \
afqhhekbn121 administration adidasonparas123 adidasandnike abrakadabra1 abcdefgh2000 abcdefggfedcba abcdefg12345 \
abcd!efg!123 aawildwoolf1 aaaaavladaaaaa aaaaaaaaaaaaaaaaaaaa aaaaaaaaaaaaaaaa a7575999975a a5963259632a a3531534b415 \
a1s2d3f4g5h6j7k8l9 a0000000000a 9932525011995 987654321qaz 940091192300 89je4q8j92r0y 89508074830ice 89279881081af \
89270869449q 89121344466a 89116446869tema 89096319050m 876543212000 8363434480sx 80688800742ilona 80506203416w \
80505251243qwe 80333121556a 789963123741 789456qweasd 78945612344752 76maawl7qsrai 76543211234567 764608adelka \
7590019552ghja 753951753951 753951456852 753453753453 751243538629 6bc8a3652000 69savannah69 654321123456 \
637nq781wp3h 634832klpo50 6136030moska 565656werasd 555555555555 543279937954lol 5429818flower 53xp8c7agyxls \
535148326159 501877501877 495867qwerty1 460570885341 456852456852 450512450824 448017251810 3edc4rfv5tgb 341822554792 \
329usalva007 321ewqdsacxz 3192heptagon 315102001112 2x4karyzbyee 28elkedelaet 27ab55ce67az 270mixeron0561 \
2519882dasha 246824682468 230790dgbple 23021997namher 228papirosim 201120112011 2010benvanburen 200420052006a \
1qwe2asd3zxc 1qaz2wsx3edc4rfv5tgb 1q2w3e4r1q2w3e4r 1q2a3z4w5s6x 1grizzly2000 1greedisgood 1ass2patties 199819981998 \
199519951995 199219921992 19912702lolik 198619861986 198419841984 197419741974 192639413058 1805aspirine 174372362579 \
159753852456 159357456258 159357050505 1366613gromf 13243546576879 124578986532 123vfubcnhfkm 123qweasdzxcv \
123qweasdzxc123 123qaz456wsx 123geniys321 123abc123abc 123a456b789c 123654789qaz 12345qazwsxedc 123456ytrewq \
12345678abcdef 123456789zxcvbnm 123456789zxcv 123456789tun 123456789sasha 123456789rfnz 123456789hola 123456789asdf \
123456789321 1234567891234 12345678910q 12345678910n 1234567890asd 1234567890abc 123456789098 123456789012345 \
1234567890-- 1234554321vfrcbv 123234345456 123123qwerty 123123321321 121212121212 1123581321neko 1122334455qq \
110022993388 109876543210 0987654321qw 0987654321qaz 090807060504030201 070289070289 069118721456 06028006tata \
05dagestan05 057yeja1zpc3ljx8ci 031060220793 00000000000000000000 000000000000000 zzzxxxcccvvv zxzxzxzxzxzx \
zxcvzxcvzxcv zxcvbnzxcvbn zxcvbnmasdfghj zxcvbnm1234567890 zxcvbnm12345 zxcdsaqwerfv zxcdsaqwe321 zxc123asd456 \
zx454888ebay znfrfzrfrfztcnm zlodeivot88w3er zkenmitxtvns zhjckfdzhjckfd zezimazezima zevfvslehjxrf zczrefrection \
zcfvsqrhenjq zcfvsqkexibq zcfvfzcfvfzcfvfz zavialov1990 zasadazasada zaqzaqzaqzaq zaqwsxcde321 zaq1xsw2cde3vfr4 \
zaq123edcxsw zaibuneng198710 zadolbali1984 z1z2z3z4z5z6 z1x2c3v4b5n6m z1979lbyfhbr yura11061996 yui89213641706 \
ytty5656ty56 ytnevtyzgfhjkz ytkes9959evh yqkki8yutvdg youcantseeme youaremylove yjvth3632171 yjplhtvjxrf0102 \
yjdsqujl2013 yjdsqujl2012 yjdsqujl2010 yjdsqgfhjkm15 yjdjtgjrjktybt yfujhirtcbltkrjhjkm yfnfifyfnfif yfcntymrf123 \
yfcntyfckfcntyf ybrjveytdthm ybrjkfqrjdlbvf yatsenk01308 yatebyalublu yaroslav2011 yapilolik155 yalublusebya \
y0s84jkxrztq xyivzlomaesh xxxmisterxxx xxx124578123 xxj31zmtzzkva xx85.enk7a8m2 xx123cardoso xthyfzgfynthf \
xthtlybxtyrj xldir6us9wk8 xinmima09362 xeljdfhobr27 www9356527575195 www89062803177 wukwinwukwin wtb220wtf220 \
wso9rycamguchqpdwwvbad ws4zvm85vsuq wrestlemania wolverhampton wolferman777 wladimir1994 windowsvista william12345 \
whitestripes welcometohell websolutions69 websolutions007 wd9dwgka9mkr was_rejected warriorwithin warrior12345 \
warcraftrenat wangwang2013 walesonskilz waitandbleed w7dy287ktshn w248403198828w vvvvvvssssss vtnfvjhajpf1 \
vtnfvatnfvby vsebudetxorosho vq6m5spb3ukero vovadima2819 vleofdhghxxp vladreghbzyjd vladimir2011 vlad123456789 \
vkontaktedrug vkontaktebuggy vkontakte111 vjqntktajy53 vjqcegthgfhjkm vjhjpbcjkywt vivalasvegas violetta1992 \
vinnythepooh viktoriya1993 viktoria1989 vikachka7777 vika123456789 vidasaudavel vh5sxz3tewey vfylfhbyrf2002 \
vfrfhrbybkmz vfrcfyfkjdbx vfrcdexswzaq vfrcbv565656 vfrcbv050489 vfhcjdyf1994 vfhbzbdfyjdf vfhbyf19981902 \
vfczyzvfczyz veteran240282 verveloabball vertyporokh123 veronika1986 venvr8vr883f venfynvenfyn vehfnjdfqaz123496 \
vecjhjghjdjl vcb2009byday vbtfztz3ehdw vb9djgjdwxdq valeriyalove valerakish963210 valentinovna valentina123 \
valentin1995 vadimka12369 va306566153156 uuuuuuuuuuuu uthvfybzrfekbnw uqbk68jf75pc uniprocessor underground3 \
underground2 undefi_jysir uhlvuhlvlove uhfylvfcnth22 udkzarniamov uchihasasuke uaiobg9312gg1 uaeuaem6597676 \
tzmzikyd8bmc tyljrhbyjkju txmasterpppp twillikiki1122 twilight2010 turboblink182 tu4stu4kins279 tttttttt2000 \
triderredirt tricking123456 trfnthbyf1995 travelinstyle transserfing trainspotter trafficforme trafficexchange \
tracon130591 toyotatacoma toyotacelica toxa3353520216 toomuchsugar tokiohotel123 tmihhp35gjwk tlbycndtyyfz \
timesofindia thundercloud thunderbirds throatfucker thomasthomas thisismypassword thisinstance thiesing-daniela \
theworldismine theundertaker thessaloniki thejawjaster thedarkness18 thedarkknight thedarkangel thechosenone \
thaiseuteamo testosterone televocomigo teenshardcore technologies tdutybqjytuby tdutybq12345 tbrunson-serihs \
taskforce141 tanya1234567890 takingoverme taichi110183 t6dlniahehjsktr60vp8rb50e2 systemofadow syncmaster710v \
sylviarafael swforever777 svetlanochka svetlana2011 svetlana1993 svetlana1982 svetlana1978 superstar123 superpassword \
superman1938 superfamily123 supercharged subaruimpreza structptfcor streetball123 strawberry12 stranger9000 \
stonecold316 stlkpsk3uoci steporthood2nd stephanie123 starwars1138 stargateasgard2009 stargate2000 stanyukovicha \
staneonerulez ssallonnikki sregnarrangers spsetuploadp sportscenter spongebob12345 splatterhouse splashdownfire \
spinningwheel spidermonkey spectrumonline speakersystem soundblaster sorbonne2011 sophiekitten soni43634255 \
somesword123 somepassword solosolosolo solodoukhin1 sokolovskaya sojesussalva snaelro35620 smudgesmudge smokingteens \
smokeweed420 smashthestate sliueaproulou81 skipmissingf skateboardin skafiskafnja sjswsbqvbxipi sjls2zbtmtle \
simbaa-simbaaa silverdesk84 sil918273645 signature1fa shvagrev1990 shotokan2104 shithappendsshit shevchenko1995 \
shemhamforash shayshayshay sharpandshiny121 shahi0911ami sh4d0w3dhtml sexyboyharry sexosexosexo sexisawesome \
sexinthecity sex123456789 severussnape setupvirtual setupdigetde setupchangel setinstalldr serviceproce sermak338024 \
serialkiller sergeysergey sergeypronin september2010 sentinel2000 secretpassword se354et6haeth scorpion1984 \
schnickschnack saxaridze098 savok13081308 santiagokapo27 sansebastian sanidtrshyrd sandervandoorn samsungs8000 \
samsungnokia samohodkin521 samerica2005 samayamilaya salvadordali saintssaints sagmicrosoft s9744644z4464 \
s80992813028 s2ed8rpasdvl runesofmagic rrrrrrrrrrrrrrrr ronskiebws123 ronaldo130897 ronaldinho80 \
romkathepapavk147896325 romasxodizaxlebo romashka2011 romashka2010 romapavlenko20 romantorenkov rollingthunder \
rollingstones rogyansamehali roflroflrofl rocawear1993 robertpattinson rktyjdsqkbcn rkjybhjdfybt rjyutybfkmyjcnm \
rjycnfynbyjdyf rjycbcntywbz rjntkmybrjdf rjhjkmrjhjkm rhtcnbycrjuj rhfcyfzifgjxrf rhfcjnrf2011 rhfcjnfcgfctnvbh \
rhbgnjuhfabz rhbcnbyf2009 rhbcnbyf2000 rhbcnbyf1990 rfnzrfnzrfnz rfnzktyflecb rfnfchjafptvkb rfkzrfvfkzrf \
rfkbyfrhfcyfz rfhnjxrf33456 rfgyuji8il0oksdfzx rewqfdsavcxz resurrection84 residentevil5 residentevil4 rerfhfxfkjcm \
rereirfrereirf reqghjccsogfcc relationship rekmnehjkjubz regeneration refrigerator refridgerator redve3z4and2 \
realmadrid11 rdsdisplay16 rdfpbvjlf007 rdfkbabrfwbz rbytvfnjuhfa rbhbkkrbhbkk rbctktdybrjkfq rbcf20rbcf20 \
raquel_adolfo randomdude12000 rammstein1995 rambrushadow raidersofthelostark ragstoriches radhakrishna \
radeonradeon159 radenebwnz12 raailgrinder r4e3w2q12000 r1u2s3l4a5n6 qwpoaslkzxmn qwertyuqwertyu qwertyuiopzxcvbnm \
qwertyuiopasdfghjklz qwertyuiasdfghjk qwertyonline qwertyasdfghzxcvbn qwerty987654321 qwerty150270 qwerty12345678 \
qweqweqwe123 qweqwe123123 qwepoi123098 qweasdzxc12345 qwe9876543211234567 qwaszxxzsawq qwaszx987412369 quiveringotter \
queroveragora quant4302000 quadrifoglio qriltzm1xq3d qrfst5tjolud qrd2gvmdfltq qq8gws75mgo8 qq11ww22ee33rr44 \
qplk9637next qo1029384756 qbrqu7fkhgqv !qazxsw2#edcvfr4 qazxcvbnmko1 qazwsxqaz123 qazwsxedcrfvtgbyhnujm \
qazwsxedcrfvtgby qazwsxedcrfvt qazwsxedcasd qazwsxedc1234 qazwsx741852 qazedctgbujm qaz123wsx456edc qaz123456789 \
qawsedrftgyhujikol qawsedrf1234 q89500282294 q80669707167 q7txfofgx0qb q1w2e3a1s2d3 q1w1e1r1t1y1 q1q1q1q1q1q1 \
q1a2z3w1s2x3 puteshestvie pussylover69 pussycatdolls purplemonkey purpanptfcor ptktyjljkmcr psychosocial psetupinfcac \
prostokvashino prostigospodi primavera2006casa prikolprikol premiere1992 precompilein preciousprotection \
pppppppeeeeeee powerra9gers powerman5000 powerful3701 poshlivsenahuy porschecayenne pornographie porninspector \
popkorn461016 poonamganesh polischuk4693 polipropilen pogo22-omegaome pleaseletmein playstation1 playboybunny \
plasticfloor pjkjnfzjctym pineapplecou pincopallino pigletpiglet pierrepierre phs16l31pogosta photoshopcs4 \
phoenixrain1 philipdannypaul pfvtxfntkmyj peternorth10 peterborough perseverance perezagruzka pennsylvania \
penelopa1234 pedro77772mru ped100ananacnaveka peaceandlove pawsplease11 patricia.miguel passwordptfcor passwordcorner \
password4321 password2099 password2003 password1996 password1992 password=09=09 parasha11uvarova paramore1234 \
parallelepiped parainfluenza paradiserios papinadochka papagepetteo panasonic1981 panasonic123 pakistan1947 \
pakistan1234 pagevars.get pabloescobar p140499417feef870 ozzyosbourne ovsyannikova ovchinnikova ourladypeace \
otvertka1337 oriflame2010 orangemonkey orangecoffee ops123456789 opezassociateslb opernkleider opalpussycat85 \
oooooooooooo oochristian2 ..oo3xpzokk6 ololotrololo oleg12345678 odnoklassnik odessamama2010 nuttertools1234 \
nuttertools123 ntktajy12415 novograd2011 noviembre201 november1972 nosnikta8991 nosceteipsum nnnnnnnnnnnn \
nnjceyvsu2y4 njkthfynyjcnm njhygtftb567 nitroglicirin nissanskylinegtr nissanalmera nikolozinika nikitosik2011 \
nika19981303 niezapominajka niemtelletmein nickho-covers nhfdfytyfhrjnbr nhbujyjvtnhbz212 nhbfyuekzwbz newpassword1 \
newblood2000 newandimproved neversmile95 nevershoutnever neversayneve networksetup nemmondommeg neizvestnost \
necronomikon nbvfijdckfdf nbafyb30111997 nazwanowka1234 navykentron1994 navuhodonosor1 natashanatasha nat198777734 \
nastyanastya123 nastya23101999 narimanisayev napoleon1812 nacional40677 n8doggmorgan myponycancelled mylenefarmer \
mycroftholmes my9508669252 mustanggt500 musicismylif multifunctio mozillafirefox mozilafirefox mountainbike \
motorolac350 motherfucker11 moshatinkor2 monsterhunter monstercocks modernwarfare3 miyvarxarani mittsitt2009 \
mittelscurry mitochondria misvazhen1997 miroshnichenko minhafelicidade minhafamilia mindiashvili mimamamemima \
millyisloppy milko12345677 mikeybihon-post12 mihaisurleanu2561 mihaisurleanu mihailliahim miguelangelo23 microlab1986 \
michaeljorda michaeljacksonj michaeljackso michaeldelaila metropolita1 mersacenforce merlin216382 merkava-ivanhar1 \
merchantmerchant meparishvili meowmeowmeow memyselfandi mekhinnymoppy mehanizacija mazahaka49285 maxwellhouse \
matrixmatrix matilda123123 matheus12345 masturbating masturbaciya masterkey123 masterblaste master2217433 \
master1master2 maslennikova mashamashamasha masa3364-33645962 maryseforever martenson908884 marmelado4ka marlonbrando \
marlboro2202 marinanastua1313 marie-madeleine mariaantonia mari01012001 margarita2010 marcio415041 mamailoveyou \
mama1234567890 mama123456789 mama12345678 makc000000000 magictune777 mademoiselle macedonia3189 lyublyutebya \
lvbnhbq12345 luvbekkikkevbul ltpbyajhvfwbz ltdcndtyybwf lrodney-rrodney lrh195005041971 lovessuper412 lovepickles23 \
lovemyfriends lovelove2010 lovebeloreck louis.vd.bongaert louisdog-hattydog lordgyeah561 lolsmileyface lolo19972804 \
lollollol123 lol123lol123 loferuttylort loco68-impossib locdogdontstop lo3fvyyqsl5b lizardstresser limpbizkit99 \
likanelicane libertadores lesbiansrule leopoldxyilo lendlord1993 lena123456789 leja59257301 lehjxrflehjxrf \
legendkiller legalise2009 lebronjames23 lbvfcegthcnfh laurelindorenan lasnaloveafrosja kzg5pcxbpxax kvkklas199613 \
kurosakiichigo kumarsouravarzoo kucinggarong ktynfj01011986 ktyf13021998 kturjbghjcnj kruviviju101 kristina2009 \
kristina1992 kristina1991 kristina1990 kristina1987 krasotka2010 krasilnikova krasav4ik1995 kostyakostya \
konstantinovna konstantinov kolovrat1488 kmstsg229179 kleptodathief kleopatra777 kkkkkktttttt kjhtdstfuyhil \
kislotnyi2692 kisa19953011 kirill123456789 kinokinokino kindergarden killyourself killermonkey kh6s4a2ppim2 \
kfgjxrfljxrf kfdhtynmtdf112233 kbytqrfujdyj kbytqrfhekbn kbytqrf251993 kbpfhtvfhxer kaylynnmarie katerina1992 \
katerina1989 karinakarina kalmar801415854 kakakakakaka k2xs85pgnffc k1ku1ch1m0j1 jxtymrhfcbdsq jvksc27ylkjt \
juventus1897 juninho1999@ juanmanuel66 jrcfyfjrcfyf joshhartnett josebaron123 jonasbrothers jonasbrother jollyyjollyy \
johnnybegood joffustoffin jo12ko051988 jnvjhjpjr123 jlyjrkfccybr jlyjdhtvtyyj jlquatt-j22276 jl15ioomn84z \
jktxrfjktxrf jetbalance2w jesuskristus jesuseuteamo jesuseocaminho jessie-oscar jessicawhite jeremiah1618 \
jensenackles jenniferrefinnej jennajameson jefferson123 jedemdasseine jean-francois jazzymanlfuckem jariknatasha \
jamestkirk7769h jakonda678st jakethesnake jahrastafari jackasslolfr21345 jack33_lwr9l iwillpk5ever iwillk03657320258 \
ivrus19922701 ivan77568369 ivan19514948 itsupport325 itiswhatitis iseedeadpeople1 isdn128turbo irjkmyfzajhvf \
irinaivanova iofdmaaycdbvrlbi invinoveritas internationale intellectual installwmpla initiative30 informatique \
indianajones independient independente independenci incredibleguest imortal913913 iloveyou1997 ilovenatasha \
ilovemummy446 iloveladygaga ilovefriends iloveemoboys12 ilovebigtits ilov3th3lord illelonorpomy ilikexbox0104 \
iliketurtles ilikedressingup ikfcfifgjijcct ihopaskavesi ihatemyself*** ihatehackers idontloveyou iamthewinner \
iammillioner iamalocksmith25 hxckugxvtmdsm hunterhunter huddersfield hsrjdlvbnhbq hs49zu7wzpk2r5ac hrtheyethsttrh \
hrenvzlomaes hppsmiro2002 hooligans1488 hollahossa75 hojeetercafe hockeyplayer hmr0257576021 hl3fp5sjer8wmcyk \
hjvfhjvfhjvf hjpjdsqckjybr hitsboosterpro hfirstptfcor hfcnbirf2008 hesoyamkjkszpj hengsha_2_23 hello_its_me \
hellobrother hekbnrfrdctulf heccrbqcnbkm hddcs91372574 hcrcl8ilqafw hbnfhbnfhbnf haymes12345678 hatelbhatt17 \
hatch9379992 harleydevidson hardcore2000 happygilmore hannahmontana hangingplant handofdeath1 hakunamatata1 \
hakuna19631211 h6u7p3i4o8q3 h4uqthuyfvmu guitarplayer guitarmegafake guidinglight gtnhjpfdjlcr123 gthtljpbhjdrf \
gthtdjgkjotybt gthdjrkfccybr gthcgtrnbdf76 grizzybusted grfgsfhgdhgfd gregoryhouse greenmonster greedisgood10987 \
greedisgood1 greedisgood007 grassisgreen grasshopper1 gplfm.qdxnzik gpihofkrhfphg goodmoodfood goldman12345x \
gofuckyourself gmmskin35334 gjrfghblehjr gjkysqghbdjl gjkbyfgjkbyf gjkbyf123ghjybyf gjhyjckjybr1 giorgigiorgi \
giannicontessa ghtlghbybvfntkm ghjvbcrebntn ghjuhfvekmrf ghjktnfhcrfz ghjcnjckfdrf ghjcnj4197809 ghjcnj15z04jdty88 \
ghjcnbnenrf1 ghjcgtrnvbhf ghjabkfrnjhbq ghfdjgbcfybt ghbhjljdtltybt ghbdtnhjvfirb ghbdtnbrb767 ggathering92 \
gfifvtldtltdghjcnjkfgjxrf gfifrjcnbiby gfhrehgfhreh gfhjkm927256 gfhjkm426800 gfhjkm12345678 gfhfktktgsgtl \
gfhfktkktgbgtl gfhfktkbgbgtl gfhfkktkjuhfv gfgbhjcbv228 gfedcbaabcdefg gfdkeitxrf5432 gevgehev1982 \
gettingthenetfucker georgegeorge gena10051982 gearsofwar2012 gc4k6nuhrdk2 gbhfvblfkjkrf garciamartin1995 ganjubas2007 \
gaiakixzpufi gaga_123_gaga gabrielmota12 fyyffktrcttdyf fyyf20050427 fyutkbyf2005 fyfcnfcbz555 fyfcnfcbz1993 \
fwwrjqcjnjyf fw34klm79rte fussballverruckte fuckyoupayme fuckthepolice fuckoffbitch fuckmerunning fuckmefuckme \
fuckingflicks fuckingbitch frodobaggins friendinvite frephiotohaij65 freetrafficworld freepalestine fredfredfred \
franknfurter franklinnilknarf frankandsherry fr1812hjccbz flyman832000 flvbybcnhfnj fltkbyf13122009 flintstone2000 \
flatronl1718s flagfootball fktrcfylhjdb fktrcfylh1992 fktrcfylh1991 fktrcfylh1988 firsttimeset firemanhaztm \
fictionfargi ffffffffffffff feuerwehr112 fedcbafedcba fd7c6ms9uxhw f*ckintits99 farida1a-rem710 fargifiction \
familiasilva fairanger71rus extensa5630g exportnation experimental exgirlfriend ew4certhcmhy everybodylies \
eveningcucumber eugeniy4121999 euamominhafamilia estabilizador esqueciasenha escortrsturbo erocdrahhardcore \
eragon19021985 emyeuanhnhieulam emoviolence11 emadamad123456 elianetenero09 elenasmirnova dylan610-rem58 \
dontworrybehappy dominik563431995 dktcehjlbkfcm dkflcjrjkjdcrbq dimka123456789 dima123123123 digitalplayground \
digitaldesire digitalcoding dflbvybrjkftdbx dfktekby505152 devilmaycry1991 deutschland123 desertscorpio \
denysddf231321 denverbroncos denisok199199 dekbniudjzjmu deflep27-starwars deatiphiliato27 deadmau5isbest \
dc0989dctaras dbrnjhbzdbrnjhbz dbhnefkmyjcnm daytrip-daycamp dashatwilight305 dasha1234567890 darinkabibalova \
danluy2350563 damonsalvatore daleearnhardt d2m4a1ak47usp czwseilqfoio. cup2006-soccer ctirlicctirlic cthuttd123fhntv \
cthtytdtymrbq crashoverride counterstrike16 coubeahecrubi49 coolcanadian2 contraspemspero comeflywithme cnfybckfdjdyf \
cnfybckfdjdbx cjkytxysqpfqxbr cjcbreqcerf18 civilservices circumstances cinqfontaines chouraethiaci10 chfymujcgjlyz \
chetteunmarce chelseaforever cfvfpyftimrfrjq cexrfrhfityfz cegthxtgeibkj cartoonnetwork cardifflad1917 cannotremember \
california123 c0904fd726fc565 bynthyfwbjyfk bylecnhbfkbpfwbz byajhvfwbjyysq busterunit1992 burtazodis1989 \
broncoscoach1 bringmetolife brayan1472583 bradleycooper br76vt466464443 bones69-bones69 boltik9411194 bjkb8tiu5i5vv \
biosnex-hardrive bikerhiker123 bcnjhbzlbpfqyf bcgjldsgjldthnf bbbbbbbbbbbbbbbb bbbbbbbbbbbbbb bawcat-taebo101 \
basketball123 bandofbrothers balloonsballoons badboyforlife azsxdcfvgbhnjmk azertyuiop123 avierumolo1922 \
augustburnsred .attdsblygjnc atlantabraves assemyouaretheking assassinscreed assasinscreed aspirine121986 \
asifythy7z3hk asdfghjkl1234 asd80975393309 arrozconleche arminvanbuuren architect2003 apostalofdeath a.ohajuunlkny \
anu6esymehuvaq antoniobanderas antifamilymang1 andykelso2003 andsodoeszima andrewrudakqwq andrew1234321 \
andrejs-iii0649 andrei123456789 andjelinadjoli americandream23 alteredmotion altaltaltaltalt aloneinthedark \
allsaints1975 alisha1234567899 alexandrovich aleksandrovi4 aleksandra1997 alan123456789 a.jyydiuhtfdk ajyluzaqynaxys \
aiman12345678 aian123321456654 ahmad123456789 agent00botinok advisornation administrators achilleus-chrisbln \
abcdefghijklmnop aaaaaaaaaaaaaaa aaaaaaaaaaaaa a8axuze4y9aly7 a80965812578a a7madabualhija a2r5t8u0r1473 \
a244793220016 a1s2d3f4g5h6j7 999999999frbnzy 9946755822zoomin 9876543212000 974790bkmz1993 96014430windowslive \
93fc3k2zk3ujg 91loennm6kphs 91ce14qzbzw7p 9096ubric9096 8m917a753k98s25 89502727543lexa 89278724282serg 89121247597vt \
89049895144sa 89031719600bhbyf 88n0vluuwaupg 8882558209123 8795406199710 8765432112345678 8677984414789 83513561345aa \
80994577127aaa 80976885088asd 80971542123gfif 80665283506edd 80633575649aa 80502354942a2 7yvgzamqpwasd 7u6y5t4r3e2w1q \
789456123qwerty 789456123789456123 789456123321654987 76543217654321 741963789123z 72x2jnbinjyb6 721174730459913 \
71kqichsws1ik 694dollarsbabe 66wexdsyas9ho 66uu55d5f7aaa 66mh1rdozedik 666xbckjlmzdjkf 654634536365354 \
6521bf42403fc9d8 63ol5pnhqy3rs 5611443nataxa 5555555555555 555032212333366 50n5dzdndufkm 4m61pld88sibis \
49975281777184 4815162342vey 4815162342qqq 4815162342lost4 4733473347334733 450z1x5juja92 4162819437lis 40cfynbvtnhjd \
3983butterfly 373khsao40xdo 351795067351795067 343guiltyspark 336755aa336755aa 3087620482048 2s7xbt6mfd83nq \
24kent04kent83. 2468137925819 24091997oksana 240794a240794 2395064741521 23468001456740 2345zet56776869 \
2222222222222222 22112003398309 21angelok1987 218362kikakotik 2014526rfyrelfq 1x2x3x4x5x6x7x 1wdx3wax1wdx3wax \
1qazxsw21qazxsw2 1qaz2wsx3edc4 1q2q3q4q5q6q7q8q 1pwhon42nnlvh1b 1g56urr78ew96 199801199801q 1995rasulmaha \
19061995yulenka 1900204420115 18111995qwert 159357159357159357 153281vtrnune 1505199129041991 15003f640a10fd13 \
147258369147258 13901390zheka 1310817032115 13012011zydfhm 12qw90op12qw90op 12qw34er56ty78ui 125874963oleg \
1254785966asd 123qwezxc123asd 123cntgfy1234 123boots1123boots2 1237897419635 123789456123789456 1236987412587 \
1234qazwsx1234 12345qwertyuiop 12345g5b678900 123456qwertyuiop 1234567uytrewq 12345678qwerty 123456789vova \
123456789vlad 123456789valera 123456789sveta 123456789rian 123456789qwert 123456789oleg 123456789lbvf 123456789igor \
123456789ghbdtn 123456789anna 12345678987456321 1234567891234567 12345678910456 12345678910111213141 \
1234567891011121314 12345678910111213 1234567890zxc 1234567890vlad 1234567890ujn 1234567890qwert 1234567890qazwsx \
1234567890lena 1234567890dima 1234567890arg 1234567890aaa 1234567890123456 1234567890098765 1234567123456 \
123456654321q 1234554321qqq 12131415161718 12125240rich_ 11c645df6bc8a365 11235813213455 111eee1e1r22yy \
10293847561029384756 101nokia58000 0o9i8u7y6t5r4e 0imhungerforba 0997450201cthbq 0987654321asd 09876543210987654321 \
06730673ksenia 054624917100225588 0509672427nastya 032165498701q 03031985osskar 0302multiblkjdcrbq0302 \
025230230243639 02221997bujhm 0217101406cool 01234567890123456789 0123045607890 010519961111gfhjkm 007masterdiego \
zzzzzzzddddddd zzzzzzz7777777 zyydm4tbfwpa6 zyv3irksgj16o zysupyjageraxa zyfujhfr16021997 zybxtujytpyf. \
zxoegmpo129548 zxczxczxczxczxc zxcvbnmqwerty zxcvbnmmnbvcxzx zxcvbnmlkjhgfdsa zxcvbnm123654 zxcvbnm123321 \
zxcvbn-asdfgh zxcasdqwerfv1 zxcasdqwe123valera zxc2202464zxc zxc1488048zxc zx89608343515 zx15cv04rty95 \
zwy5ftneynaibtgxalqc zul_019967345 zu8u9e3u2a2ahe zrjdktd22121986 zpnz8tt9hdyvz5bz zorassapphire zonesgoved123 \
zog8mqby4edwh zndjzfhjifz333 zmazyzmazy555 zkpdavk5nphku zjdsgfdjll32gh zj09999408868j zizeqoveraler zippy222-rem757 \
zin7kxp8nlqmhst zimbabweewbabmiz ziklopic55265 zhenya123456789 zhek.rjktcybwe zhangyuanlomg zgjikfdvfufpby \
zghjcnjybuth7 zghjatccbjyfk zerocool9445346 zctrcb12ctrcb zcfvfzghbrjkmyfz zcfvfzcxfcnkbdf zcegth123456789 \
zazalimzaza122 zasteconnie88 zarembitska46011 zaratustra777 zar29jsy19uks zaqwsxcderfvbgtyhn zaqwsxcde12345 \
zaq1234567890 zakirovzakirov zackstermer12 z6pr7agsiqcuy z3mxrvaqzo2iw z1xfxnuecgjfc z1x1c1v1b1n1m1 z1s2c3f4b5h6m7 \
z1c9r2m4l6v8sd54 z0mxzntsdfaeu @yza6y9adubadu yyw5nb8dufo6i yyrsk88ggirli yxy2eqesuxutyt yusranmonique \
yuliyabanny030302 yugvi8u2l4xwo ytvbhjaa01542 ytrnjrhjvtyfc ytrhjyjvbrjy1 ytpkfvfticerf ytjghtltktyyjcnm \
ytgjdnjhbvfz923 ytghjcnjgfhjkm ytdpkjvfnm1992 ytdlmaswrbyfkvin ytdctnfrghjcnj ytcbydtxtckfd ytbpdtcnyjcnm \
ysyk4rbhylcwi ysvpfwwwbewpq ysumj9rfzfjmrhks @ysu9e2exunupa ysocnelglwbcs youwontguessit yousexymfyousexymf \
yourguardianangel yourbunnywrote youngestamateurs youknowyouloveme youarethekingnoob yokusorcer123 ynajawave$u6y4 \
ymy89k0apw72i ymuraje4edahev ymof4k81wdlxy ymirotvorenie ylzzirg11grizzly yluqylyqyhebav ylmhess6st2mq yleqavyty6udax \
yld8i4yeqn5ym yjvthntktajyf yjvthgfcgjhnf yjhvfkmysqgfc yjhs5ertsk7sa yjdtqibqgfhjkm yjdsqgfhjkm531466 yjdsqgfhjkm123 \
yjdsq1gfhjkm2 yjdjrjcbyj19901 yjdfzcnhfybxrf yip030000002bz yieje8slsjdlp yhweffdfgdf39 yhriwudhtqkjw yglqyf4xtb7ao \
ygfgdfhjrrtree2 yg9ouji56port yg5cpem6c98zh yfnfifvehfijdf yfhrjrjynhjkm yfcnz1234567890 yfcnz123456789 yfcntymrf1997 \
yecgaauzumymw yeahsurewhatev ydnm5xmznozagt3 ycp4erzl2srdc ycjhwg1lad3fg ybrrblbrbycjy1992 ybrnjytepyftn \
ybrnjytdpkjvftn ybrjkfqbdfyjdbx ybrfrjujgfhjkz ybrbnfhjvfyfnfif ybrbnbyf12345 yazinabecobra yankapartizanka \
yalyublyusebya yaffkseict8enpkl yaddayaddayadda y9y%aty3epyxuq y9fdtggjdbxrncpz y6jlcoo9ihfoy y5u9abena2awas \
y3a2evely7abu9 y1jcathfne15r y0x5nrjnlvdum y0cq9fpk9xz4vr5v xzpdkst9lse5y xyxzyfwzhjiva xxxxxxxxxxxxxxxx \
xxxqlxt5d3aoo xxwpm4olpmmbw xxwle.nrwpllo xxtrgni7uj85g xxtiwlo25bhjq xxrcuphkuvgai xxr6hrpgtalbg xxo03olo.qhz2 \
xxnudxrcljwnu xxkvq7yxt9yoe xxkuwv5mxkzac xxk3m72gwbd2o xxfevaeulomgs xxaegtkkufyom xx3kqeihi3pqa xx0trl.ebiq5e \
xw4crqgt1ntt2 xtvgbjyfnvbhf xtndthrf1994dfp xtkjdtrvjktrekf xthysqdjmamba xthtpnthybbrpdtplfv xsl3irudtulwa1yl \
xshadex187550 xristina290386 xpressmusic5530 xozqeo3tbwnasiw xovbjnfyn2fghsdv xoa9gzdqc6h0g xlxokkew12rqu \
xlqnwyd8mnaem xkevin12345678 xit0990282411 xhwq6inoglbro xg0noxebyeame $xearoms8upwybts xchumt8ojymoy xbxjweov7vn4k \
xarlamoff20003000 xaker_lab2010 x7xjpgns84wza x252564790147 x1s4tsjnuryhq wzzqfmnv06euakxs wz4rypedrmufrllq \
wxwjqloeoztcg wwwwwwwkkkkkkk www15071983www www1234567890 www123456321www wvcnxqssmujks wuxiaofei19866110 \
wutanga-killabee wusgk3c7s2zcs wuqldxsvegxyw wugyrapepemu7y wryjfa1ep7q7e wrk0bx7etgc1m wrjtzoijkrznu \
wrhofigduwxy5sch wrenchtoolman wqkpmvkocip1k wprwkove9qj8s wpgyugvme58xghio worldofwarkraft worgvufuvw20q \
wonderfulworld wolfgangschatz woaded1-vampish7 wntoej19fziqv77p wmnnwlhtscuclh wm43b1qq1xdds wladwladwlad24413wlad \
wkfr2q7xgkb1i wjxfk0ysuvao6 wjqk6uxhirxri wjqdj2ndpfyas wjlvlyizow0sg wjgbjdz1tnyj2 wjg6seaxgaanq wjehcwv7zut5m \
wje57taoo3efy wjbse0q2g2ols wj0hunawpdotw withintemptation winstonlights windowsthebig wilmer-usmcduck willtopower88 \
wildonesrocks wilco791-12345678 wiem260988wiwi whysoserious2012 whosyourdaddy7 whosyourdaddy1 whogivesafuck \
whitezazabrowny whiteandnerdy whiskeydynomite whigginb1-s739rht8 wheelman15011998 whatyouwant69 what_the_fuck \
whackomelinda wh8jkkrcxghud5en wh00ol00000se2208e wgaqqxbdtojfg westcoastcustoms wertum01021984 wer12345678109 \
weihnachtsmarkt weihnachtsman weihnachtskugel weihnachtsbaumna71150 weihnachten200 weightlifting wehotandwesmokin182 \
webcrackers2oo3 wdy8ncf5kwckc wbrkfvtyskyblue wbfghjnb56zxc39as waychuck-diamond watashiwadesuka watashibaldesu \
washington6288 warningpunk89 war3xpansion_ wang2923617yqw wanderwesen-leider wallpapers009 walkerman1972 \
waihoho198610 w7ytuwd8u9jbv w463pem0mzdro w4606086013369w w!2e3b#pszd9fxav w1w2w3w4w5w6w7w8w9 w1van9dawbpng \
vytytcnhfiyj1 vytdctulfdtptn vytdctgjabu159 vyhkbhe7gtvwjfv5 vxswji6fzwpki vxroul9og40ly vw1zzz70z2h047607 \
vv89243192659 vtyzpjdenrfnz vtyzpjdendfyz vtyzpjdenbkmz vtufcgjbkvtuf vrd9173464681 vqgbshd5bmmw$lup voznesenskaya \
vovkavcarstve vovka123456789 vova123456789 vova1234554321 vorskla199881 voluptuous9370 voluptuous8887 voluptuous8312 \
voluptuous5968 volgodom37rus volchkova1989 voe0eqh4f0pzhqon vodvryw4yqrfs vocevirousaudad vnjgtgnsarnvg \
vmj0030000002y vmestenavsegda vladislav1978 vladislav1234 vladimirqwerty vladimirovna88 vladik1994351 vladeslava123 \
vlad911009291998 vkliferita31214 vjqukflbfnjh123 vjqlbyjpfdhbr vjhtdjkyetnczhfp vjhcrfzpdtplf vj9inznaakqfe9pe \
vj2oxdfmrf69g vixens.comreaper999mor098go vixen06041990 vividdottle2000 vitalina_1992 vit38960540alik vit2572654452 \
virgoismylogo virginiabeach viq920bgebreo vipoaglxrgyme vior3luzl6u1ry2e1 vioqwert14041990 vinicius123456 \
vin80676079485 villavicencio viktoriya2009 viktoriya2007 viktorija1993 viktor4424840 vika.malikova vika55lucenko \
vika1234567890 vijivaetsilni vidujelexavut vidanovaagora ..vhhngnuxufy vgtkau8f5zzimt6j vfvjxrfvfvjxrf vfvjxrfgfgjxrf \
vfvjxrfbgfgjxrf vfvfvskfhfve1 vfrhjuyfnec154 vfrcbvrfhekbn vfrcbvrereirf vfrcbvjdbx1985 vfrcbvec12345 vfrcbv18081988 \
vfnbkmlf2010cjfrf vfktymrfzcexrf vfkmxbrcgfkmxbr vfitymrf12345 vfifcfifyfnfif vfibyjcnhjtybt vfhujif21052007 \
vfhnjdcrfzrjirf vfhbzrepytwjdf vfhbyfrhfcjnrf vfhbyfrfhgjdcrfz vfbef11tiijz6 vettedude1964ailing1 vetek97gorovoy \
vertii1999masha1 veronika2786350 veritasmaster veritas-chrisbln veritas8374827 vergil7770696 vercelli13100 \
vera123456789 vennadgrimmid velfrcerf1995 velesnickaya525 vd5ca6j9koqmzdueagoocj vcttxoqipk0da vbrrbvfechekbn \
vbrhjhfqjy1992 vbn322jfg434rty vbkrfujvbkrf94 vbkkbjyth2009 vbkkbjyljkkfhjd vbirfyfctdtht vbirfrjcjkfgsq \
vbhjckfdfrfhgjdbx vbh7vfrcbvjdf14 vbczxd6eej59y vasmediagroup vasilevich1967m vashthestampede vanes33612658 \
vanek123456789 vandematharam vancouvercanucks vancouver1173 vamfmmumzv3pg valko19902405 valera20011996 valentino2000 \
valentino1976 valentina12345 vakinnkrutoi4el vagon02081976 vageliskvizatz vadimpustovoitov vadima5625527 \
vadim212086026 vadim123456789 vadik21012010 va2ygusazybuja v6#wnsbldes2!7zg v51pyaazadr4e v408394201a312 \
v221m12101jvv v1v2v3v4v5v6v v1o9v7a8tulupov v0ug72k2zzzd6 uzf$vgpiwrobuxrc uxude%u7uqeryg uvfhdpnwisnfqk3 \
uuuuuuuuuuuuuuuu uutmllwhurvmq utuun4efmaeds utopiahillhorses utjcbyrkbyfkm uthjbvtxfbvfubb usernameemanresu \
usamabenladen urwinfamily100 uriqjxowqldaa urbzsefu23sqe upm6pcsfxrrgsff5 ..uotardncrnc uomapheveadou51-moudaicr \
uomapheveadou51 unudoitrei123 unlimitedqwerty unlearndrum21 unitedsheffield unimarspa2010 unforgettable unendlichkeit \
underworld1980 understand123 umyzu@apy7ytyq ummat420420420 ume3zfdi5ogzj umbropumasuper ulysses-chrisbln \
ultimix290991 ulpifkofzhyxa ukzbypobpvaya uklmuzfqmroku ukfvehysqgjljyjr1993 ujyuifcaybpze ujqfohfzd1vrc \
ujklfutyn1995 ujcgjlbgjvbkeq ujcfdnjljhyflpjh uitan02013621 uhy7uqupejuquh uhtntkmvfhufhbnf uht4zv4yhdxv6 \
uhbyltkmdfkml ufyttdhfabcjdbxnbveh ufyljkmths1975 ufkbyfgtnhjdyf ufkbyfdbrnjhjdyf ufdyfrecjr123 u@ely2y6u#ery4 \
uchxmm2uw6pse uchiha___itachi uby8epuzaduryj ub2ciznrjelxw uafhdmw7sddfm uabzspwzukpyc u8fbmtllfgqq6 u7y6t5r4e3w2q1 \
u6w25u7jd31qy u1m8h0levizlw tzw8xcpreqvsi tzhj5lwg4ounc typeonegative tyayr50wcv7n2 twilighttennispenguins \
tvmicaqjpkrvr tvkupahmepzja tvkittdarkange tuvwxyzzyxwvut tutephoconani40 turmadorio123 turbulentnost tuqlo2b38v8iy \
tupxhxxpf04qm tupacamarushakur tuofp1cwfukowr tukiko98950422 tujdtkbxtcndj tubewordpass99 tttttttttttttttt \
tsueretorovalex111 tstapes5990comc tshimamoto2001 trying2getphatw00t try2killme666 trusov4003014665 truskaweczka1 \
true752147895 troubleshooter trololotrololo trnfhol6y7foe triskelion1968 triskelion196 t_r_i_e_s_n_y_u_g_e_ \
trfnthbyf4645 trfnthbyf1991 trepescienucachisso tree899flew369 treawrihaiphe58 transplantation translatability \
transformator transcend1989 trans5dtrans5d trankvilizator tranexamicacid trancemission trahtenburger \
trafficwonderland trafbeezhzush tracy.zappala tpepsucolia@1209 totenkopf3000 totalcommander toshiakitoshiaki \
tortuecrapaud12 torontootnorot tor2010wallin toonworld2101 tomrose280680 tommyheavenly tomandthecats tnyntqpsauzqs \
tnqn7mtbyu8yg tmhzzndjdjp9o tme1eaac6tewq tlzcerfjgfcty tltprokopyn199229 tktyfghtrhfcyfz tktyfdbnfkmtdyf18 \
tkrfltlvjhjp12 timoncello883 tilllindemann tigralubludiko tightwetpussy tickled.comreaper999mor098go tiagooliveira \
tiadkcquxggxq thzyhetfbrsgk thxthxcancelled thunderstruck thunderbunnie ..thskkrchxve thsfmb2i4nnur throwyourassout \
threelittlebirds threatenedagrip thompsonthompson thomasrestart thnarchyhalf3613 thisweekinpalestine thiswasnot4fun \
thisisapassword thin047foam53 thibnxclwytyc theylovemehbad123 theworldisyours thetruesightomg333222444 thermonuclear \
thelegendofcynder thelastwortex thelanghipool thekingofkings thegimp-gr5av8b thegiantpeacha thegathering1993 \
theforceunleashed thedeej-alex266 thedarkride2000 thechemodan163 thechampaloushi thcgctvccnncc thatmeansrevenge-xxx \
thatmeansrevenge thamyrismaia** thamires123456789 thalesaugusto37027269* thaisaparecida thainagatinha thai123456789 \
thafriauuwrea21 texnolog511akatj testingforfun testingcheatsenabled testflight123 terrificterran terremotoenchil \
terraincognita termoidraulica terminator123 terezaefernando tepuvenyweduvu tentoilajesus tennessee1221 tengewleather \
telecomanda12 tehygdfhgdagf tegucigalpa100 teerbob1-faceman1 teen.comcalculat teamomuchisim teamocristiane \
teamoandressa tcntcndjpyfybt tc61wxwmb7dua taynagamaprimavera tawny21bii-access tarasenkoalex taqu5yby5e#yba \
tapir90ipatsya tanya1003b2005 taniafernandes_87 tamfeltfanafel talamort?dukolak takeshi0997292 \
takekazu7-kamikitakeiko takehana-take8422 tabaksmentolom t8tegwgxhztsq t8nwxe8z735ok t6eki8kktnnfo t3uywqv52wmki \
szevasz-tavasz szczecinmiasto syqiiiqes55bu synystergates syncmaster943n syncmaster940 syncmaster793df \
syncmaster763mb syncmaster757nf syncmaster755dfx syncmaster753dfx syncmaster713n syncmaster1991 syncmaster151s \
sykazatknis123 sxsahei83myes swthernsugr9tsou sweetbabyjane swath3395muddy svetocopy2110 svetlanka2003 svetlanaf2004 \
sveta123super sverhchelovek suty8yladyhe!a susieewilliams susie65-eurostra suryaonline!00 supplementalincome \
superstar1985 superstar12345 superman207211 super123456789 sunsetrocks800 sunriseavenue sunnysunny123 suicidesilence \
sugarbritches suellembarbosadossan suedamaamadeus suckittrebek10 suchilasuchila successsuccess successsseccus \
successman7582 subrinasultana stuzha19671966 struhtdesigns97 striker23cool strangeindeed stpiliotindex \
stoudriaslama55 stopbeingnoob stomatolog2010 stokrotka1234 stlkylilix100pr stjohnacademy stitch17011982 \
stimorol660019 stilllikedressingup stevengerrard steven8gerrard stevelcsharpe steroid070793 sternocleido1 \
stephanie.nagy stephaniedawn steiner.fritz stefisch.1912 steelersjaymz stay763turn188 stateoftrance staskoziy1997 \
starwarsstarwars starwarsjfkrush starwarsbcdfns starwars123456 stanislav1990 stalker1q2w3e s.t.a.l.k.e.r. \
stalinorgan01 staff.mileypt st4qnpgcatdck sssssssjjjjjjj ssmow01-loop11 ssiwfolsmpr6e ssirkfjnt84zm ssapsardnek165 \
srinivassavinirs sri2ivassri9ivas sri0ivassri3ivas sr71blackbird sqwev9rdx6gvc sqmlkjcpoju0jswc spuppyslulley \
spravedlivost sportsinengland sport80984975792 spliffed-spliffer spiritolibero sperryd-redsoxxx spencer-021978 \
speeddemonlsu speakforurself speakersystem22 spdjgutnvhfjghdnqliu spawn123nwaps spartakmoskva spalermo-middle \
southfield0123 s!osop8dugdbqech sos176120777x sorcererdruid sonyericssons312 sonyericsson777 sonyericsson1 \
sonofthebeach solutionr0x05 sololarrylarry sog2elnkms8la softicesoftice sofreshsoclean soeuseiminhasenha \
soemmyutzk4si sobakunogaara snowmansnowman snowbars481516234270119 snickerdoodle smv9btc0xzs8a smuggler94sup \
smokymomichail19871007 smoke5577sunday smntq52ds0sna smirnov.lizuncova smileystolen101201 smertspameram \
smashingsundays smalltowncats smackdownvsraw slutzaccess495 slutuniversity sliueaproulou81-druphach slistconnect1 \
slipknot555666 slimewave4busch sliajoraephae86 sleepwalking3 sleepingforest slavyan2695228 slavka54984167 \
slavik24101988 slava987654321 sladkyvalmont sl8facl7vrwfwvro skytherskyther skipperhorney2 skatingforever \
skateboarding1 sjrddg4dtqjqk sj43dt392iqdm sivisamariama sitizen150192 sirock-cservice sinhropozitron singthesorrow \
simplepark198 simon_richards sim0505699313 silverlinings5 silver3307010 silmis6750036 silchangearoni sietedelsiete \
sierra;nevada siemenssiemens sidedish2go11 siberianhusky siath29215055 si2iiufwms3ni shut_your_mouth shungokusatsu \
shudayekarbala shta28011949lev shrike01-hyperion showmethemone shoselinnoctow shone_kennedy shoelaceslamo \
shjm29iom5ik6 shjds@*&saksuy shishkabarakalum shinshilla123 sherstobitova sherlockholmes shepardfairey \
sheffieldsheffield shdsd3x0dbiwy shaxidshaxid1983 sharovalv5555 shannonloveme shanekilpatrick shaman20061994 \
shalamberidze shakoisherima1 shadrinsk2000 shadmarshadow sft8enta4v1lc sexy123456789 sextasy357951 sexonthebeach \
sexmaniacs-liverune sex.com77snnkesnakeman sexbasketball4 sexandthecity sex1234567890 sevillistasoy sevarekkellen \
s=#et!041maktoez sese220756ksv serxanrecebov serp890255641 seriy1995yakim sergopancho87 sergiomonterrey \
sergik10061955 sergeyt08980898 sergeypermikov sergeylazarev sergey987654321 sergey1234567890 sergejkrainov \
sergei123456789 serendipity13 serejenka2613982 serega25021987 serebrennikov senzapassword sentinellenitnes \
sensationangel sempreeparasempre semaj700007james selifrucht1994 segarallyrevo seemnemaailm1 security1score \
securedbymelannie secundo210374 sdwhd6533vo32fjs sdsdsdsdsdsds sdgvdsbsdfbsv sddpcht-1234567 scrotumniger11va \
screwflanders scofie4815162342 schweinsteiger schwarznegger schwarr-cheers schneider1992 schneefloeckche \
scetaacitsdup scarface11880 scandinavianam sbrouse-awesome sbo1p9wgbstvy sblackteamgo12 sbevpkyro9pqmf1 saxalto199612 \
sav4uk3110844 saturn159248137 satogonap080718 sataniquemizo-19 satan13nitroq saskatchewan05 sashastalkerxaaa \
sasha_ramsaran sashamalishew sashamalik1997 sasha384040912 sasha15051993 sasha123fucker sasha12199598 sasha12062001 \
sasha09041985 sarlfniyhmzty saransk03513rus sarahbenalvarez sarabelle252000 sanyasuper4495 sanscontrefacons \
sanju582realmadrid sanik89286532300 sanekneshko9609 sanek19951216 sandro1992a06 sandringham16 sandralanoeskaa \
sandragan1982 sandoramix0607 sandalio2906fhe sanbernardino sanandreas2009 sanandreas123 san80954932969 \
san4er123san4er samsungsamsung samsung567235 samsung1234567 sampurasun123 samaraforever sam2012sam2012 sam1917sam1917 \
salvowebsolutions salfetka11121992 salamon123456 saijajantunen94 saifulbachtiar sagacrepusculo sadlukkbnmz1234 \
sachintendulkar sabaradarylromantic sabakunogaara s9bil1vrjn0yh1b s8k3vg3q7i35x s89528817874a s82nozergxkw6 \
s2xewh6kb3cu2 s1o2r3k4a5n6g7e8l s123456789012 rzgj7dmci05k2 rydolf230031551 ryderlikesmen rvvcctn4wmiua rvozrw9tz8djg \
ruthlesshunter rutgerleistra1 russiachampion russia20102020 ruslanlarionov ruqiyahlovemuaz ruenharn8ekzji4z \
ruellovedada2 rud85eais74ru rubiono0928900 rtyuehertyuehe rtxbyf9491856061 rthjdjuhflcrbq rrrrrrrrrrrrrrr \
rrrooottteeemm rqoqggwbbzjza rq2ec2k2vg7m2 rpls4g1mguakk rotartsinimda rosemaryrosemary roscoejschweins romperstomper \
romoladance772 romik199520109040465697 romaromaroman romancenovels rogerio.15963 rodriguinho123 rockalivesolomax \
robojoemancow robin987654321 robertokarlos3 robertocarlos robertdhinkson robert123456789 rnyc7ywanehfc rnqfmdofckg3a \
rna6x4qknlwty rmracingrmracing rmracinggnica rman6686765e95 rkfccysqgfhtym rjymgtlfkmysq rjycrfzpfkegf rjycnfynbyjdbx \
rjycnbnewbzha rjvgktrne.obt rjulfjyljrehbn24 rjnvfnhjcrby1982 rjnsdjbntkb1998 rjitxrfvehveh rjcvjyfdnjd34 \
rjcnzycegtth12 rj9hykjc6ac4j ritochka141414 rischat9195865247 ricqanhe56596 richardkiehn588 rich1963-debbie \
ribtail-marker rhtvfnjhbq2003 rhtckjrhjdfnm rhrubzjjxylle rhhgnrylwoxbs rhfitybyybrjd rhfcystnhectkz rhfcyjzhcr1972 \
rhfcyjtlthtdj rhfcyjrfvtycr rhfcyjpyfvtyrf rhfcyjlfhcrfz rhfcrf1999ghjikf rhfcfdbyf1982 rhfcbkmybrjdf rhfcbdstvjycnhs \
rhenjq159634789 rhbcnbyfrhbcnbyf rhapsody10591 rgbnct!ydxmrs rfvfcenhf1991 rfvbkkfrfvbkkf rfvbkjxrf1991 \
rfrnecsrfrnecs rfpfynbgxbr1234 rfpfrcdtnkfyfutyflmtdyf45984 rfnzcthl.rjdf rfnz1234567890 rfnhbyghbdfkjdf \
rfnfcnhjaf3462 rfkmrekznjh666 rfhbyrfrfhbyrf rfhbyfrfekbnw rfgbnfyfvthbrf rfgbnfycrfzljxrf rfg5f5v5eeeed \
rfevgqggdejjqcbr rezyfhneh1991 rexthtyrj1988 revelation2015 restrictedarea residentqwerty repvbx27021987 \
repea0978102889 repairyouhead repairedsteve reloaded216465 relaxwebpinks relationships reibreh11herbier \
reggiocalabria reggiebigdick redskytonight redhamsterbluehamster redassesround recjxtrcxfcnmz rebolation123 \
rebduc-blazer reaperdragnfly readersdigest rdtynbynfhfynbyj rdpnwsf7ycowa rbhbkkjxrf886 rbhbkkjxrf1990 \
rbcf11219112008 razvfn0hqqy5a raznoglazik97 ratmanseanmac rastamanrastaman raplewrisesip rap789852jtim raoktoldzqsw6 \
ranmanblue_07 ranger122aidan ranchocucamonga rammstein2011 rammstein2010 rammstein1989 rainbowinthesky raffaello2010 \
rafaresi31214 radeon9600pro rada89248682908 rachelilletschko rabbitsdoe2003 r5al5n4149049 r4e3w2q1r4e3w2q1 \
r1q6bp5esll8w r16241924132400 r15mo5i1g23sh8p1a7pe r10tdc2hg5yqu r0ldzdfmwrpaa qwqw12233445qwqw qwqeqrqtqyquqiqoqp \
qwp8azq0q3idi qwertyujhgfdsa qwertyuiopqwertyuiop qwertyuioppoiuytrewq qwertyuiop2000 qwertyuiop1994 \
qwertyuiop1234567890 qwertyuasdfghj qwertypixeli22 qwertyasdfgh1971 qwertyasdfgh123 qwerty87654321 qwerty7895123 \
qwerty29102005 qwerty12345rus qwerty123451994 qwerasdfzxcvqaz qwerasdfzxcv123 qwer789456123 qweewqqweewq1 \
qweasdzxcrfv123 qweasdzxcqweasdzxc qweasdzxc2011 qweasdzxc1996 qweasdzxc1995 qweasd123456789 qvixxxzkvlada \
qvehidkfeggoo quiveringotter-im4sin quiltingreader quieroserfeli quienlovaasaber quant43072000 qualquercoisa \
quackerquacke qt74nwdjqzzze qqqqqqqqqqqqqqqqqqqq qqqqqqqqqqqqqqqq qqqqqqqqqq00000 qq89052908071 qpwoeirutyqpwoeiruty \
qo3r2mrv5dfxw qntvrmr1h4v1c qmwnutjvhu1hc qmcxo8dv7la1xe65 qm4pdo67cv8v2 qjreukflscbkf qetircbmdu24y qejavurapamyny \
qdwlrsfy9ddqqgbsyx qazxswqazxsw21 qazxswedcvfrtgbnhyuj qazxswedcvfrtgbnhy qazwsxedcrfvtgbyhnujmikolp \
qazwsxedcrfvtgbyhnuj qazwsxedcrfv123 qazwsxedcrfv1 qazwsxedcnik9 qazwsxedc1997 qazwsxedc1234567 qazwsx20012010 \
qazwsx1234567 qazsedcftgbhu qaz2864137180 qaz123wsx123edc qaz1029384756 qawsedrftgyhuj qartvelishvili qara8ube7u7exu \
qaedrw9707134625 q82oxg7ww9d7n q61l8gdtoy682 q5v4drat7xajer q5txlhw8swxtzvkl q3gbhy4wnj7jq q2mgy2rrpdd3i \
q1w2e3r4t5y6u7i8o9 q1w2e3r4t5love q1q1q1q1q1q1q1q1 q1492260qilia pyqdtmed8thirci pymcpp04doo5qi2t pyjdbvhjrjv2011 \
pueu2dezqwzkm pubvibvtq6dqq ptybn123456789 psychedelic2010 propellerhead progressivehouse professional1 procrastinate \
pro100pizda666 pro100fanat1k privacy_policy prisonfor10years printellectual princewilliam princessa2012 \
princeofdarkness prestigiousmodels presledovanie practicepractice practiceecitcarp pr1wualb179861p pqjlvfk4tiyii \
p.pz03012010rerepz ppbr31yk9d36c pozdnyakov1998 poweroverwhelming powerdestiny090 power20061983 power19911960 \
potulova.xenia potqwerty545214 potomychto2011 posstal311219 portveinforeva poppers4-4r5t6y7u pooperscooper \
polniypizdecachat@#!@ polikoliutr942 poleuretan42rus polaroid992000 poiuytrewqpoiuytrewq poiuytrewq12345 \
poiuytrewq0987654321 pointbreak123 pointblankita poetry@nopand pnunkqlxhoy42 pn7hwc1l06pj2 plopindewolken \
playersplayers platinumpussy47 plastictree53 plasticjamison plasticbed365 plasmaticrick69 pkiy1w422e3jg pjuh7p3ermflq \
pjkjnjqlhfrjy pjkjnjbcrfntkm pj8e73uri8ymy pistoolboekjemetinho piskavgopu1301 piratos686539 piratestation \
piratesofcaribea piramida12345 pipys.nn.jhx. pioneercdj1000 pinkooshehjar pinkonewonder pineapplehair887 \
pilot11223344 pielegniarstwo3 pidaras12345098 piabernardino physician0346 phuslipraedre22-trimasto phuslipraedre22 \
phtozhfu0wyvk photosmartexpres phkviepbvi0us phillipmichelle philladelphia philippines21 philipic-casimir \
pfvjrpfvjrpfvjr pezaregood88854 petrusvsibl07 petrpetrovich petropavlovsk peterrbaskerville peter.g.robinson \
perviz3595373 perversion4037 performa6300cd perfectorg3155 perevoznikova pepperonipizza pepperminttea88 pepper1101997 \
people-peoples peolvziruznli penisbreath69 pencildeskman pekenaatentada pedrohenrique pedrocagatinhodanet140594 \
pearson_88earson peanutsftw8395 pdtplysqgbhfn pdrltoyyqbkyg pczizffez8lks pbdth23124567 paytina.arina pauzzpu1q3ilw \
paulkenneth103 patrick_silva patrakovserega23 paswefwefsword passwordtrfbu passwordfadegh password123456789 \
password.1234 passkapasskal passkalpasska passionate9376 pass1234567890 pashastolenn110601s pashalavruhin \
parolparolparol parol21041995 parol123456789 parlament13579 parkhillsroad parba09305232165 paralelipiped98 \
paradallevegas papaandthewhitehouse papa9035752959 panicatthedisco panathinaikos pamelaanderson palmeiras2010 \
palmeiras2009 palestine1948 pajosevadixywe painkiller1990 paddy22071998 packarddrakcap p6gfyojtl5artjb \
p4swd_6c805c3ad8 p38p38p38p38p38 p3141592653589 p2ewp5cjchc5u p1e2s3h4k5o6v7 p0o9i8u7y6t5r4e3w2q1 oz8xopd7cwgcq \
oy3k6af9kvhgvit oxxxymiron1994 ownsasiangrace ownerowner2575 owhdnlnsftvmu ovmack06041988 otvsehubegayu94 \
otnorottoronto oscar_jose_2007 ororo4444rrrr originalganjaman orangecountydp or3wyiwkfivq6 optimusprime91 \
opportunities opjlxzm2usd3w operationcwal opalpussycat334 op4er07072000 oooooooooooooooooooo onzr2ribrccbg \
ontherocks393 ontherocks382 ontherocks348 ontherocks297 onlyone4-excess onetwothreefour onelifeonelove onefishtwofish \
onedirection1 ommanipadmehum ominousfury123 omgvalakas356 omamov12345677 olya1999olya15 olya123456789 olsenlover69-a \
oliviaisamazing oliveiraanthony oliischdebescht olgaolgajochen olgaandreevna oleksandrivna oleh123456789 \
oleg.kapustin_95 olegfirstalways ola5velq2pp093m ojiijodualitym oi0l8lth9c91k oglocoglocogloc oggyjnr-howist \
ofokeha9hy8oifen6 oezininainnaa11 ocjw3le36z57q ocgatk2-llaveatk2 o.c.eggebrecht obskaya2akv71995 ob3ab1010bbab \
oasisoasis0411 oasisdryreach oammv4avzglp6 o9ndv7cfvh9sm o4ssncikyvzvk nztbt7i8zdyvu nvidia8800gtx nuwu2yhulanase \
nuncadiganunca number13051986 number123456789!!! ntnhfuhfvvfnjy ntnhflmcvthnb1 ntdbixljnl2eai5gqqvhxbnp nsgubkmxwueou \
nsbfibd35mcrspc nrfxtyrjuv1961 novohudonosor novogilov1960 novocherkassk notmypassword nosurprises79 nosex-withyou \
northwestern99 norma1mikehart nopasswordinass nonmelaricordo noneofyourbusiness nomoneynohoney nokiaxpressmusic \
nokia2700classic nog0mia0man6nn noblekamael2010 no1cvp7gyubkc nnslrt69r01l424q nnr8odioark009 nnnnnnnppppppp \
nnnnnnnmmmmmmm ??????n?n?12345 nly2t29advyfhwrz nkiyzvp4rxnbe nk1x1hmwnm4ny njwanazam6qazwsx njkjrjyybrjdf \
nj8dhhcvqswvs nimajnebbenjamin nikolay11vsemenkovo nikolaishvili nikolaeva2011 nikkita240888 nikitos626817 \
nikitasergeevich nikita485974147 nikita1234567 nike80969158989 nika2210as2010 niederlaufhund nicksuperdick \
nickelnasty101 nichtvorhande niceangelbaby2008 niakokajink47 nhlzl1idnhlzl1id nhjtgbplfkj12 nhfycrhbgwsz7 \
nhfycbkmdfybz nhecbrbdrhjdb nh1qspqnrwo8s nguyen2261997 nguoitoiyeulaai nfyz123456789 nfhfrfybpfwbz62 nezamerzai2010 \
newyork2newyork1 newworldorder newsarama1pass1 newbloodnewman nevermind1212 nepovtorimaya neo777volodya \
nenuzudomas426 neednottoknow needlife2live needforspeed123 nebuchadnezzar neadekvatnaya nda5c5sukev9b nbkbvbkbnhzylbz \
nbkbvbkbnhzvlb nazaninsn10959 navygeorge449 nautdognaked1 naughtyscotty4u natalu007025270 natalianatalia \
natali3344223xxx natali123456789 natali0593846 nata4005701109 nastyxanes1998 nastyahapaevalove nastyachestardolia \
nastya2010nastya nastya1234567890 nasigoreng1970 narutosasuke12 narsula20252401 naglyphsinsp8249 nagato123456789 \
nadyamayher1982 nacnarutoanton na1fikovai1bulat myztee-trish123 myllamabunchie myiqwvrkvf1pmiwqbdf4kneq \
my4extremehits m#xi!rzyvh681=fn .mx18spider10man86 mv36hw74fcdub2rk musicitislive12345 mullummul758712 \
mrscristinagoncalves mrsbuttersworth mp972sa007b006ussr moviedude1122fdd mountainman1952 mothercicket2001 \
mostwanted6419 mostafa@halo1203405600 morethanicansay moonkusserver97 montanabigsky2014 monstermonster \
mono.01.06.1995 moneymaker2992 moneybag555555 moinomer0632969509 moi9643179063wow mohammad123123 mod=billing_core \
mobilesupertor mnbvcxzlkjhgfdsa mmmmmmmnnnnnnn mmmmmmmmmmmmmm mmmmmmmfffffff mkvcfqswdi1zes mklr59anni1949 \
mkjleepyaitorddz mjwp8mnd2hi7upqg mjbalogh-19janu64 misskris4849004 missionimpossible misha80685562476 minorityreport \
minnie28072011 minimonk1997797 minimicraft-youtube mimminomimmino million1000000 mildred6303748 milana4772871714 \
mikimousemylife migboybozobozo mifuckeduphentai midnite.fantasy michaelwayne70 michaelk-britney6 michael@gangbang \
michael.curley mgmlatbb122563 metallicasuper mesaticephalic mersedesbenz123 merrychristmas mercedesbenz2000 \
meoff1-jackal1 menzoberranzan meninadosolhosdedeus meb266lavi11ym22 mdmichener-kaines mcouture123456 mcdonaldcdelam \
mcc1188391257ad mbnxmylxp7gxqv7hmi9gsoriz mazingeraguila mazelaaleksandr maxsive23021997 maximka1234kent \
maxim1204maxim max80987189933 mauroalessandro mauriceundtommy matteolibanoro matrix-outoutout matheus34518247 \
mateusz123456789 masterofpuppets masterimargarita masterchef1999 master13041984 masquerader888 mashkamilashka \
mashalishnya31 mashabogak1234561995 masha10031981mart masha0663655464 maryanamaryana marty_klopfenstein \
marseille94700 marounhajjloveyou markus000-lovelybo marishamarisha marioisnumber1 marinamaximova marina25061986 \
mariarenemivida margohamakarevij marcusvinicius marcoswilson15 marco.baumstark-5828 marceloaugusto marcelo35641782 \
manicson-love908 manda_martin99 manchester2010 mama0951128503 malcevranger505 maksmaksim300300 maks1234567890 \
makingcoinjizz makhanataskara maimaimottinhyeu madsexparty123 madinashahmanova maddinibiza2004 madaclioweaph61 \
m!6janlik0mt97 m1dd2l3n414092002 m0ynqplxama0yve m0r0nsa1ut3o9e lvbnhbqlvbnhbq lvbnhbq2724899 lvbnhbq1990psrjd \
luvstosuckcocks luvbekkiluvbekki luvbekkiikkebvul luvamami-visacard lumpkin-sandman lukaslukaslukas1 \
lukaslopas860660501 lukas123456789 luizcarlospm10 lucillelucille lucas123456789 lubluanutu4326vv1 lu6ere4yxe8yje \
ltybcrfhtlbcrf ltdjxrfcgktthjv lovingirishprincess loveyouforever lovethewayyoulie lovesyoulovesyou lovemirsvobodi \
lovelyseashore loveisintheair loveeveryone94 lostterminator loseva18marina losangeleslakers loris1-tatjana9 \
loosersneverwin longlivepakistan lollipop123321 lolik123456789 lolfuckyou3210 loki2496-nightwin loglntoroatpkz \
loginkav159753 loganhenderson loanhouddyoredo llllllllllllllllll llllllllllllll llehdimmikhell llehcimmichell \
liza12345liza1 liza1234567890 livvym07021997 littlecowboy69 lipohipo688985 lilicaripilica lifeisbeautiful \
li7nain6verse1 lfybbkcthuttdbx lfif89184833900 levchenkoaleksey letmeinniemtel letmeinletmein leticiaeestrela \
lerusjakozlova lerka30vishenka lera10041997sveta leonardosantos lena89149404636 lebedev2552334 ldflwfnmctvm27 \
lbvflbvflbvf86 lbublhjrdthwtnby lbfyjxrf104863 lbdthcbabrfwbz lazarevlevgala lavidaesuncarnava lavey-lavey666 \
la%u9e5y2yvuva latinlover1842 lastlight-killyou languagepowerboo lancer-juebito lamismadesiempr lamacod1benny1 \
ladyspeedstick ladkaringmybells1 labradorretriever l7dg980a43rijfcnr3puk5faj l2ze353gepulrvbg l15c6l15en44vg \
ktonerabotaettotest ktlybrjdsqgthbjl ktjyblidthbl80965137150 kthrf.czcegthjr ksenia1995ksenia1995 krystiantaylor \
krivolapov1985 kristyna_samsonova kristino4ka123 kristinakristina kras95kira3329522395 kotenokkotenok kostyaskostyas \
kostya90280710 korolevskii2409 korolevakrasoti koothattukulam kootergirl-kooter11 konecsveta2012 komppily007123 \
komikadzeq1988 kolya1234567890 kolob@ster720303 kolobokkolobok kolechka9qwe12345 km694nbv45fa8phg klocknerklockner \
kklages-slugger kkkkkkkzzzzzzz kkkkkkkkkkkkkk kjmkzej0sd4y9ti6 kjkyjqpeirfybvthekbn kjkszpjkjkszpj kiril123456789 \
kiogouniakoui79-saecloub kingdomhearts2 kim87051930193 kikuchi-1023kiku kiendanchoi199 kfhbcfcfyfrbtdyf1 \
kewlprincezz44 kepnerstollin111001 kensai-athena00 keepitsimpletwo keeperofsecrets kcuf321123fuck kcarc1221crack \
kbytqrfpkj1984 kawasakikawasaki katya89166172604 katya0932687854 katerinakaterina katerina09091976 kate0500717910 \
karmapachena49876302 karachipakista kapitoshkaivolk111 kangars1357779 kaledinjora2002 kahunajtmartin \
kaeannadhyleantonette jyrymary8a6u6y jyrassik554604 jwbkkjrjrwbyev justinmcgbrady justice4allepier justfoolothers \
julien-taschen jsdlcrzmnwsno2 jpnxgzbynj2dgysu joshhamilton32 joseph31-lindsay jonnyjacknliam jolyan9976291saad \
johnwilson-kirkwall johnnydepp290589 joemar72887761 jnhflyjt1234567 jndtncndtyyjcnm jlbyyflwfnmvbyen \
jlbyjrbqcnfhsqdjkr jl302408105239 jkzyjxrf1975vfvf jktuybrjkftdbx jkmufcthuttdyf jjjjjjjzzzzzzz jjjjjjjjjjjjjjjjjjj \
jivedaddydave08 jiueqqio0xst4gcirdnhk2 jihgfedcba2000 jiaojian900804 jhx46s4w85sfjkh jhughes-asrocer1 \
jhrl0821-jhrl0595 jhood22-december jhonatan24670913 jhn16pu-bpx880 jhfhgcgre65r7687 jhbtynbhjdfybt jhajuhfabxtcrbq \
jgthegjkyjvjxtyysq jesustransforma jesus_me_salvo jesuscristo2010 jesuschrist241 jesperkroghnielsen@msncom \
jekasuper050499 jeka1122334455 jeghedderjacob jefersonlindo123456789 jayenterprisse jaxhereproctor jausvebber2010 \
jaunaparole888 jashha67123bbhs jasdf5as5f45as jardanes-chrisbln januarijanuari januariiraunaj janlattunen123 \
james.hollands jadedragonflower jackieguenther0205 jackiebrotherton jackiebook4717 jack789-airedale \
jacare0102034561993 j3qq4h7h2v2hch4 j1dtktrjktgysq izabelly200592 iwannafuckyou75 iwanmisailoff78 ivanjesuscastro \
itnetliza1998342462 iseedeadpeoplee ironpussycat87 irkakoshka12cat irinazavarka123 irati0eni4gma2 invisiblemark52549 \
###int_made### ****intiitnikcuf internetkong01 internet123alo intergalactic3 initrammartini inhocsignovinces \
ingodwetrust310592 infyutywbhrekm infernusvader66615 infatuated9129 infatuated3361 iness89140547347 inapproachable \
importmodels4u implementation imnotthatstupid imageresizeguide ilyabasket1995 ilushka66693777 iloveyouverymuch \
iloveyousomuch iloveyoumybaby iloveyouineedyou iloveyouforever ilovethisworld ilover0cknr0ll ilovemybrothers \
ilovejasmin619 ilovegirls-likethat iloveevelina23 ilove2718991915 ikfvfifgjijcct ijnjnbgfctrcbkjk iiilovesingle061196 \
ii369121518212427 ihateall220390 igrejaaguaviva ifyawantme2000 ievbmv27101989004500 iea11122689eai iddqdidkfaidclip \
ichmagschokolade ichigokurosaki ibelongtojesus ia!vk#s=72q0ujg4 iaminlovewitduckyy iamhiswifebitch i4hnhoqaqko45gjp \
i1n2f3e4r5n6o7 i05#2vwet!gfco7m hwfj00jgn1fje239 huysman-nerval hunter58-ashley hudurutumysegu htutcnhfwbzkjkj \
htubjyjdtltybt htfkmystgfwfys htfkbpfwbz1982 hostwiththemost hostingpass1984 hornygregg-nascar20 hondamotorcycle68 \
hometheater1995 hollywood4ever hollywood12345 hobbitlobanovlavrov hlazarou-scorpio1 hki837bjk3hu23f23 hjvfyjdcrfz2000 \
hjvfyekmzyjd1995 hjvfirfhjvfirf hjvfirf04111990 hjvfirbrfrfirb hjpjdsqakfvbyuj hitsimpossible hilfigerhilfiger \
hilfiger20002000 highwayto44hell hightemplar2007 hfytnrbrtvthjdj1993 hevsybz1692084 hesoyamwanrltw hesoyambaguvix \
herjgbcbytujhzn herecomessuccess her0ziscool123 heqrjqy36fw6hwrf hendersonville hellokitty2010 helen-elizabeth \
heh89091625765 hedontlikezima heatoclevaedr36-ceasioke .hbqybrjkftdbx hbphezekiah1812 haxxwtfnerdzord hastingsgettys \
hassellrhassell harrypotter123 harryjamespotte harringtonsteve hardguy-cupcake hardcorehardcore happymondays97 \
hansaoff-99109910 handsomebrands handlerreldnah handlerhandler handjobjobhand hakerkiselevska haitham147963258 \
hahapodstava2010 hageoyaji144no44 hackerowned123 hackernoirhacker hack4653bigbabe h6y857t5y65hd6c7 h380n8furzkelkjq \
gzrqc6x64vifhpzo guyprocornhole gunsandroses123 guerrero032779 gudronbaton.12 guacharaca1209 gtnhjdcrjuj3021 \
gthtlbckjrfwbz gthgtylbrekzhysq grundackerstrasse77 grtyhrthwgrtghgtrhrfghfghgfh grobovski774oe grlfdyze1gsakog \
gregreget545tgr greenlightstudio greedisgood123 gratefuljjacinto gouchojostaet84 gotscrewedbydeadjones gotoravenholm9 \
gonewiththewind goliaf19902004 gohuntergo2000 gogi6507145533 godsheisgorgeous goderdzishvili godbey9-240682 \
god666tectonic globalimmigratio gjoexmtvedtktyb gjnjvexnjzytrcn gjlfhjxtr890098 gjhdedctvgfhec girlwrestler44 \
ghtpthdfnbdyjcnm ghostintheshell ghmazngoctbxlxqe ghjuhfvvbhjdfybt ghjnbdjcnjzybt2 ghjcnjyfghjcnj ghjcnjnfrghjcnj \
ghjcnjgfhjkm123 ghjcnj19955991 ghjcnbvtyzvfvf ghjcnbnenrb007 ghblevfqntgfhjkm ghblehjr247488 ghbjhbntn123456 \
ghbdtnrfrltkf1 ghbdtnpflhjnfv ghbdtnlheu01293 ghbdtnkeyfnbrfv ghbdtngjrfghbdtn ghbdtnghblehrb ghbdtncndbt123 \
ghbdtn20031985 ghbdtn123ghbdtn gggggggggggggggg ggdkflbrbhbkk321 gfyfcjybr091068 gfrbnrfysv1989 gfirfrfrfirf101 \
gfhjkmgfhjktdbx gfhjkm43694449 gfhjkm04051993 gfhfyjtlfkmysq gfedcbagfedcba gentitcndtyybr gbrnjuhfvvf123 \
gbnbhbvjd3121988 gblpokoji4ever gavetimerwulfxcat garydimenstein gargoylecarpathian gamers19950506 galatasaray190 \
gaile.pohlhaus gagy4uza%ewaqu g9atsummusta6g g3rardh0ull13r g123456789252454 fyutkbyfutktxrf fytxrfghjnfcjdf \
fyscblk3tgu4ax fylhtqrehkjdbx fylhtqcthuttdbx fylhtq1234567890 fyfcnfcbzjktujdyf futuramainmymind futurama777puk \
fussballmanage fussballbekloppte fullmetaljacket fujitsugreedy2 fuckyouasshole fuckoffhackers fuckofffuckoff \
fuckmeintheass fuck123123fuck froz3n4rrowiablo31993 frellingchristma freestyleonline freestepbrasil freedomfighter \
free2meisohsogood freddiemercury franzferdinand franklinfranklin frankamankadon fqvltjlgiqd6guzz \
forumanchorinstanceid formeremployee footballismylife footballfootball footballbestgame fmyq6ufvbq8i0xla8 \
flyingdutchman fluminense2012 flexiblepony20 fktymrbqwdtnjxtr fktrctqbujhtdbx fktrcfylhjd1993 fkg7h4f3v6vm38j \
fkbyfalinochka fixesixseveneight fishtaleedwood fishpondfishpond fischer1mounte1 firewallcapata fifa2008??????? \
fictionfiction fickteufelchen66 fhbcnjntkm12345 fgtkmcbyrf1012 fffffffmmmmmmm fffffffffffffff \
fetish.combeezer4topper4 ferrari360modena fernanda090395 fenjbyntabrfwbz fenderbender72 feinstrumpfhose \
fedrovkonstantun federicaleanza fedechiara2011 fdfqfdfq3007718 fcayn3iqeujljxmw fca8797b976473f2 farvas_number_one \
farmerjohnwill fantadeportocale fancywaste1969 fancyfeatherstx famwu9aswxwvenb falmouthfalmouth fallenangel1997 \
falaschettichr88 faking159death fahjfvthbrfytw fadlan12345678 facundofiguero fabriciomoscos f856jgf865kf93 \
f0she0ykf8uwobcp eze3a#e7u9apu6 e#y9a4a%emuqyb extraneousness extemporaneous evtyzdctjnkbxyj evgeshamen744892dom \
evcoihejnrjfo34 evangelion1983 evangeli527845 eui764supermar eugenytihiy217 eugenio231976silv eugene19990203 \
euamomeusamigos etaqateve2a#y2 estrelacadente espermatozoide errewrewr43554 erondrahharduore ereshkigal210686 \
equgezu2a8ysur epluchenyl1986 epiclightpassword epe34za7guh8bs9 epatb1-gretzky eoznalgnairekwmv354 eovbhnzdzywxqius \
enterthematrix enrique18yari11 enjoythesilence enidon-gandalf8 eminiem-dirtybas elnagurunapa1987 elmosworld1003 \
ellicullucille elinkaknopkaigood elina12345elina elenbergdefender element8101993 ekmzyjdfhntv11 ekaterina128500 \
ejujama!ydanyz eindhovenaar20 eighters88loop eidothea-chrisbln egodominusigni eeeeeeeppppppp eeeeeeeeeeeeee \
edmontonimpact edisherashvili edgarfmcorreia eddiekazan1970 ecitcarppractice ecg49ers-49ersecg ebtesammadi@gm \
ebetybyqapa4ys ebeck0311eaddog1 eatmycum-02587410 eadleylunare2912 eaavkypvychsbumu e7c0e71df5e7a815 e5yrudu@edyzyb \
e3fyg3d2323414 e1e2e3e4e5e6e7e8e9 e159r951t159y951 e0por0xn8kt8lrk96+ e0b360487da6978 dzyandzyukoleksandr \
dynaboboohennition dylanjefferson dwf6h5omr0uhozcq dvdfkydleo1xk8hc dusterduster2000 durumboller333 duongthanhluan \
dukiega-mandyga duhduh0raziel0 dthfdkflbvbhjdyf dspjtmpz8zvecvc2 dsl1acufjk6kbfauoro2lhrsb5 dskscsgslscn1989 \
dski23-daman23 drummerdrummer drowssappassword drew398milt731 dreamscometrue dreamgazer1966 dragonslayer123 \
dragonfable456 dragondrive101 dragnflyreaper dpkjvobrlehfr10 dp67690-qaz992 downwiththeclown douglasrferrari \
doug_kneilands doom89879550386 dontfuckwithme donomaryamir17 donaldduck19961230 donaldchase123 dolmatov495812 \
dolbyhometheater dolbydigital28 doctor4seasone dnhiya199732557023 dktcehjlbkfcmtkjxrf dkmbbsklgcbadnfwkmvf8 \
dkflbvbhjdyf1990 dkflbdjcnjr2000 djrc3009ljrnjh djkufntktrjv21 djhcnbefhfsazx djgmvbotj23556desf djdfybrf090296 \
djdfhsxrjd1234 divinaiasis123 diva1993thecall dirtysouth15243 dirtycarpets27 diordliwaccused dinda1236987450 \
dinarchukovich dimarik777respekt diman89215057654 dimacherv30485 digital00combo diadia666vasia dhusvx2ot5zqfhwwbs \
dhfpevbntkmysq dgthtlbcgtcytq dfymrfdcnfymrf dfp210831300kflf dfj8979789!ths dfif89278157032 df4g7h89j21fgkj \
df3syprobernard24 dewvillezero21 devilsnewjersey deusacimadetudo destoles123lol desktops.comhieronymusdustbin \
derrickh-oklapro depechemode101 denisstepashko denis1234567890 denis123456789 deidarajustboom deejayfootlong \
dedushkaltleirf declanseanpaul deanwinchester deadrosedeadrose deadclownsatoshi dddddddddddddd dda11091981dda \
dctvghbdtn123321 dctulfujdjhblf dctjnyjcbntkmyj dctdcfl6780999 dcfvltkbi4949yfz dcbrown5-enujypegysu7eh \
dbzsuperinsane dbrnfu19621994 dbrfrhtvtktdf201016 dbpfybrf123321 dbjktnnf364250 dbiytdjtdfhtymt dawn_of_the_morning \
davor.biskupic davidsonharley davidmslocknot davidjohnmoore3 datatraveler120 datamekaniker14 dasistfantastisch \
dashonok666777 dashastepanova darrian-car321 darkwolfsamael darkbowmanboom darkangetvkitt dara4444west777 \
danyadanyadanya dano2240parrott danielledanielle daniel12345678 damonsalvatore2010 damir4351461986 dalmatiokman8364 \
dakota08122005 daggermidnight dabitchdabitch2 dabitch2dabitch da02ao24iskazu d7d73e16wnah123 d142da0305a51212 \
cyber9minx2800 cxfcnkbdsqltym cxfcnkbdsdvtcnt cvthnmafibcnfv cvollono-v8862u5t cvfhnyjrbz6120c cvabedouinmoubh3 \
cucumberevening !cucij_ln942q0ew cuceacodroutr24 ctrhtnysqgfhjkm cthutqcthuttdbx cthsqhtqgth123 crystal-frogger55 \
cristina0146xx crimsonlove124 crimsonedge_87 crimsoncaborita countrycottages123 countrycottages counterproposal \
cougarstollenn111301 coubeahecrubi49-claiclou cosanostra1985 cornholeguypro corinthians1910 controlbattery \
congratulation comwangweijun123 comser99comser88 complit66411lol commodoreweak3 comicbookdbpass comicbookdb8771 \
comicbookdb4me comicbookdb123 comerciante196 coloradosprings coldplay9379992 coffeephrogg05 coelacanthsucks \
cocacolacocacola cnhtkrf19941994 cnhfnjcathf1994 cnfc89222569040 clmz4dyzxwup07nyj9u classifiedsbox classification \
clacaiprecout39 ckflrfzdbityrf ckflrbq123qwe123 cjkytxysqdtnth cjf7v4f4vbif9036 cinnamon^21isonirc cicciopasticcio \
chustapiapeap65 chuckiecheese123 chrispersick02 chootkapoojari chocolatepreto chivascampeon2. chilli1881villi \
chilingarashvili childrenofbodom chietebenado90 chicagoblackhawks chiaraealberto chethanahambikkawe chesterhuester \
chesterbuddyogle chervenko19930 cheapycancelled chazofbaltimore charlieduck999 charles.v.michell chap118-811pahc \
changetheworld championlake409 championchampion chamillionaire1 chamillionaire cgthvjnjrcbrjp cfyzghbdtnrfrltkf \
cfvjfrnefkbpfwbz cfvfzvbkfzktyjxr cfvfzrhfcbdfzltdeirf cfvfzcfvfzcfvfz cfrjkzcfrjkz8888 cfqaenlbyjdf2011 \
cfifljhjabtyrj2084175 cfif80931430402 cezhbxtdfkfhbcf cevthrbcevthrb ceterisparibus centredelacotte. \
cedrat86iloncillo cdznjclove1996180771boy cd79lk10hk94ff ccjmbx3shxd4fyhz ccat7cbz20h0ojv cbljhjdlbvf2010 \
c.ballesterheaven catherinejames77 catastrofismoloc catalina-pod34dat cat.2010.04.23 carolynmanners carolynespinosa \
carcrashhsarcrac capatafirewall cant4use5this6 canno002buster canineparvovirus canadianhilisa camper97camper97 \
callsupport-callsupport callofjuares1135 callofduty136667 californicator californication caioluccas1997 \
cailozikthe123 cactusesarecool cacapopo-letmein caballerodrago c1m0t0d13b0mb0m c0fa9f4bc88d14f5 byheva2eseguvy \
bydtynfhbpfwbz buttermilk3487 butterflies1959 bustercanno002 bupbedethuong2 bulls123bulls123 bujhmyfcnzbujhm1 \
bujhmcfvsqevysq buddy_robinson bskinti7640513 brynnismybestfriend bryanvinsonbvinson brookellebones brokenbrain777 \
brocklesnar619 britneysbritney britenfieldno3 brista10-7525628 bringyawholecrew brimitch-paladin brilliantstudent \
bria8khseattle bria7khseattle bria6khseattle bria2khseattle brennoefamilia breininger1980 breakthewalldown \
brandt19692201 brachycephalic bpvtybnmgfhjkm bozobozomigboy bowlingxygt351 botherbubber812 borovoyborovoy \
borisov123456789 borcanasbogdanbogy bonniestapleton bolitas-negras boilerma-mm150mr bogdanagent1995 bloomingcampeo \
blizz392781243 blessi93628342 blanked-levelone blackstarcat_ok blacksheepwall blacklord280195 blackhawks2000 \
billysensabaug billybobbillybob billbob1-rm4443 biliameeeemailib bigracebooster01 bigdog1949-taratara bigchizzoachata \
bigal37-lockdown bigabdbean4582 bfmxu6uluygxiypj bevuxa3aqasute bermudankolmio berger2berger2 berger1berger1 \
bennettburshnick benjo29123cf1fb8 benjamindinokb benjaminbenjamin belomorsk52573 belkabarsiklove belinda.lewis82 \
begins26061994 be%etyjaguwa7a becky88819949bruninho beaver44-uncleewj beatricedesespi bcnbyfyjvthjlby \
bcfields-godzillaslpo bbceccgfcbntkm bbbbbbbbbbbbbbbbbb bbazar-bbazar1 batterycontrol batch_commands batatafrita123 \
basterhuleproo bassingwellbassingwel bassingwellbassingw bassingwell2020 bassingwell202 bassingwell2000 \
bassingwel2000 basidiomycetes baseball080295 bartosh3685534 barselonamessi baronharkonnen barcelona12345 \
barbara_mischo bansaiqqzz1993 bannedxxxiohns bandosgodsward baldwinniwdlab baldwinbaldwin bagirov150190123 \
badguy-peace124 backinadoops00 babakajulem123 b87b87b87b87b87 azsxdcfvgbhnjmkl azhurricane310 az123az123az123 \
aytak1234567890 ayrtonsennadasilva axax89197018531axax awesome3215sucksnachoness autumnbreeze829 authentication \
audioajunkie04 attantionladies atofiseogunran atlantaatnalta asymptotically astonmartindbs astonmartindb9 \
asterix-obelix astateoftrance assmakesmehorny assholecancelled assassinscreed2 asdfghjkl15975 asdfgh14021997 \
asdfgh12345qwert asdfgh0987654321 asdf2210zx45wqe asd98765432112345678 asd1234asd1234 artyroreldyrak artemkaartemka \
artemka10001190 arsenalquintain arsenalarsenal armin07127slon arhangel481926 archer33214088 aqswdefrgthyjukilo \
aqswdefrgthyju aqa4epatu9ubyp applesandbananas apacheanderson anya0602drutinova antonelloangelini anton123456789 \
antoha28071994 antimadridista antiaspirados1 antagonistically annemette_jerning aniadee-brooke anhyeunguoikhacroi \
anhnhoemnhieulam angelochek1983 anelieseaneliese andyhouddyoredo andriy09091997 andreyivanenko andreone-ochorios \
andrei89674523 andrei31032010 andrei29101993 andrei22199003en andjusticeforall anderson258789 ancellotti2000 \
anastasiya1998 anastasiya1994 anastasing1488 ananasbosnamama ana.bnascimento amominhafamilia ammistydixon74 \
amival25031964 aminspiritboy2 amigasparasempre amateuramateur aman0000161355 amadeussuedama amadeussenoufo \
am7839563197za alwaysandforever alsajidi070267 allston-prodojo allergiyallergiy2411 alisaskidan199317 alin_roony_gool \
alinelima123456 alina20119925374 alienworkshop1 alhamdulilliah alexmess4508388258 alexei26111983 alexander_lider \
alexanderayegg17 alex0911861986 alessandro2004 aleksandrbelov aleksandra1999 aleksandra1993 alegra12476180ya \
albertmartinez akasama2426252 ajn6969-darby1 ajdjpdjajdjpdj ajbert20032007 aizasygkaknisa airmaxin-brooklyn \
aimmx2lrocnelsce aikondedart22023 ahmet_41088741 ahjkjdfdfktynbyf aguilamazinger agamyratnigara agaldelyi541978 \
afvjdsyfdctulf afmanic-2manic afghanistan123 affilrevtkxk9pp affilrevmmm9xk affilrev98779m9 affilrev897ttmm \
affilrev854tkm affectionately aferran-aronny19 afcnevutkm28041990 aezakmihesoyam aezakmiaezakmi adventurequest \
adultsitesurfer adrobbiehmin-youguess adorominhafamilia adminwaslamm3r4us adgjmptwwtpmjgda ad5gfd7df765hrhs \
ad4real-8826629 accusynclcd51vm acacaccb238766 abyfycsbrhtlbn abrakadabra666 abrakadabra1977 abl2fmuf1dnpdhvx \
abd_kou-goldo123 abcdefghpaking abcdefghhgfedcba abcdefghabcdefgh abcdef1234567891 abcddesignbuild abcd9056879783 \
ab55484ab55484 aattrraaccnnee aannaandreevnaa aaa..9afctqxksfy a8c87108478c26b a5ezygyja4y#el a1c3gh5a3c5gh7 \
a1a2a3a4a5a6a7 a1973456123147258369 a03mth9149pywphgp a002414156c36b 9y2ezyty5ulyhu 9k3lriyuy0fjbhhy 9j!7ct_3lhuolm#q \
9girlsongirls6 9cfytr9fable500 999888777666555 9997356392051364 99815166151899 98785258nickolay2 987654321sasha \
987654321qwerty 987654321dasha 9804000000211895 9740903sveta1993 96231997karen53 9558270336972a 950296765523vik \
9387205793vovan 938522062412355s 93799929379992 9261729749gfhjkm 9256379kristina 925099250992509 9116422594123z1 \
904d057a76s72ha 8y5uva3ymutuxu 8ujmaksjhehy6t5jk 8q908q947q77q57 8ogsdieb3po0gnok 8hfktag45f3frjje 8fb5df8e9aeb9461 \
8fb442b3d93d497c 8ewblooddoolbwe1 8ethan32paul91 8asadelysyva8y 89827635018739 89634228131umahan 89632907151vania \
89627956126asd 89613725963bkmvbh 89610558292diana 89607536027cfif 89537065257qaz 895167889787473217 89514535214qqqq \
89510536235zxc 89505404726val 89505143510vika 89503193255gaal 89501443144senya 89277759623kolo 892740930306969 \
89269918740luda 89264321532asd 89263779488dana 89248335890xxx 89240000000sss 89233966277vova 89233690915dbnmrf \
89225433819dbrfb 89224191008alina 89216590706tom 89172162142liza 89167234878lida 89139121961zyf 89133675958mum \
89126439488rfrf 891254641221973 89118314damdinov 89109372912345ak 89086663505nef 89084124515ninysik 89082720768asqw \
89061376557nfyz 89054259895kosta 89048866152yfcnz 89030629246mama 88underground88 88888888888888888888 \
879465123lfyzdog 8765432187654321 87057639158hero 8624ifrbhjdfzbns 858585984321sat 842blin_zamanal842 8122010zolushka \
80989156260anton =80=80=80=80=80 80634897292zack 806255ecnbv43774 80507546480vfvf 7=zarjk#bo928u4i \
7m9n6l1d5p8r3k2l4s6a 7!k19cglxs_52zar 7cem0s!#o4x8ng29 7b6a50367d85492e 79036877jeanpoo 777yfcn.cbxrf777 \
77403pendulumbright80856 710556890684rty 6ybdntagreu1rg1 6sigilli4chiusure 6len9eldo001599 6d8369a953851a24 \
6bc8a36511c645df 6986399veronica 6685yen2189sla9 666tori666gura66 6666666666666666 6158615885168516 6158615861586158 \
5sh1v3yutdlhov5fk 5#o7!0qfvwdi46df 5l6a2b3g3z5h4y9a 5ja4yrxlfrofwvoh 5f4d6acebef58d4 5870409-mariner 5859000630310vv \
583741554836salo 564413tatyankamiha 557332709dmitry 55555gfkmvfhjpf 549830271327stas 54635422val1992 54565267msneteli \
54518746206179u 54369963vasilii 540614540614qwe 53johnny56depp67 5217351lubashka 500daysofsummer \
4fwlvrixzmd7kmsyoxsr50 4e6a8c737c08b55f 4999123789artur 495342962679kir 49351367771dkfl 48e5b56c539af982 \
489563880ghjcnj 48417582r1a025x 4815162342irina 481000060nastia 478793000272757849 468imlovinit468 4508153046njvfc \
4455632344552101 4444444444444444 419196292dfefywjc 4154059234k3pklsun 4152332919743063 405bd8af07713f74 \
3skpil#c!1=62ehh 3mxjtcdsjb5d1i4d 3f85c8645b23e9a0 380634402095irm 379123791237912 375298648349mts 3618.roxanne-kev \
35128460351vfvf 34her7partner56 3403_1989_heromant 3232323232323232 321sahan123hero 3156715331567153 314159265358979 \
31217221027711a 3110199312241248iron 310333qweasdzxc 310192023102912495319463 30fridgecutegirlz 3054665569yetti \
30398351harrypotteralways 302273df4d197e8 3007tatka199218 2wsxzaq12wsxzaq1 2wsxzaq11qazxsw2 2maniyuze120700 \
!2h7=aol64#exq0q 2gtxcryuqqhwlyf 2frodjzzdmi6j7epsflxumjx 2a8e463d2720e5f7 296434440838ira 2962pupsi4ek2703 \
2907marusya2010 2890pumpingstation 2890040veranika 280695chistyakov 280519951703197 2718281828459045 2712199119911227 \
2684795130a1whitechapel 264321264321264321 25384967dflbvhekbn 251423698992qaz 2505vfnehsv2505 24mjbqpsnqacm8gj \
2468101214161820 241296gfgfkbpf14 24071994ytrhfcjdf 23sa24sr23sa24sr 23java08pyramid 23fduecn20020101 \
2345678998765432 2345678923456789 230694zxc041094 22vlad3366g123456g1 2228428ykenmyken 2221763lenochka \
22111995aleksey 2158321anatolii 2128227474rubenruben 2109982702www02 21072005ltymcdflms 21041996dkflzzzzzz \
20kh0itj2olrwezc 20520yinshaolian 2043efb678687ccc 1xythqnm6234311lwr 1qw23er45ty67ui8 1qaz2wsx3edczxcc \
1qayxsw21234rtzu 1qa2ws3ed4rf5tg6yh 1q2w3e4r5t6y7u8i 1q1q1q1q1q1q1q1q 1mounte1fischer 1keks2keks3keks \
1ewblooddoolbwe1 1dabe345bzaqwsxz 1cc1zzz20100102. 1beef2baad3f00d4 1a2y3ahsyperxertsexc 1a2s3d4f5g6h7j8k9l \
1a2a3a4a5a6a7a8a9a 1a2a3a4a5a6a7a8a 19frejus66-19gioia6 1995100119721006 1993gfdkjdbx1993 1993elviscancelled \
1992polovnikova 199203021597755 19900943434029j88 1977197719982003 1957482919574829 1944dbuthby2002 1929394959697989 \
1922yjdsqgfhjkm 1922spartak1922 1912demokpat777 190794180781cfyz 18spider10man86 *1879600505602* 17vuyjdtybqdtcys \
17f8kvl219rsva6ue4hhmbock4 17f8kvl219rsva6ue4hhmbock 1715782642jypp838b 170998linysik27 16756046rfntymrf \
16111996kristina 15angelina33329 159753456kjkszpj 159753456123789 158910gtwo158910 1503198820061948 15021998chingis \
1495519goroh3000 14938685-6351106 147mju258vfr369 147258369159357 146f87627fd863b8 1425366114253661 \
141791.htmtranslator 140609kristinalove 13615084jakelaforge 135798642apomnp 135791234567896325874 135791113151719 \
13467928465yaira 1312zxbu592898fie 1307199689156203637 12qwaszx12qwaszx 12qw34er12qw34er 12harry3pother4 \
123qweasdqwe123 123pbenedict456 123celfrjdf2580 123adidas123qqq 1234qwer1234qwer 12345tanya12345 12345qwertasdfgzxcvb \
12345dasha12345 123456789qwertyuio 123456789qweasdzxc 123456789qweasd 123456789hiphop 123456789ghjcnj \
123456789evgenii 123456789asdfgh 123456789andrei 123456789adgjmptw 123456789987654a 12345678998765432 \
1234567897418529630q 123456789147258369 123456789123456789123456789 12345678912345678912345678 12345678912345678 \
12345678910fhnb 12345678910c333 12345678910aazz 1234567890zxcvbnm 1234567890sasha 1234567890qazws 1234567890kthfdbrf \
1234567890diana 1234567890asdfgh 123456789098765 1234567890098765432 12345543211234554321 123451234512345w \
12344321qwerrewq 123321456654789987 123123456456789789 123066raduga777 1223334444555550 12121212121212121212 \
12021998wwehardy 11c645dffd546c11 112358132134558900 1122334455667788 112233445566778 111222333polina \
1112195806032006 1111222233334444 11111_fantastique 111111yfcnzafr11 11111111112222222222 11111111111111111 \
110889ilyavetrov 1099953187rbhbkk 1080snowboarding 10191817161514131 101628136025kate 0raziel00raziel0 \
0raziel00leizar0 0o9i8u7y6t5r4e3w2q 0nel0ve0nedeath 0!g2437k8d#ntzue 0ee93c1e3d3352ab 0d0b446d14c7d2db \
0987654321zaqxsw 0987654321vadim 0987654321qwerty 0987654321234567890 091zxp030000002 08pjjqmi4xoeawoc \
08cc00339974383 08521456alexandr54321 0809konechka1971 079blp030000001de5 07011988dfktynby 06ivip030000001 \
069003269schokk 0681390835misha 0673677478naruto 0671792904picasso 0660144122sasha 060226marta3107 0602003644romcha \
05y9y0030000001bbi 0535395515005353955150 0526008882113355779988664422 052600888211335577998866442 \
05259497031237899456 0508402e41d9a1f0 0506197819780605 0505050583838383 040592ivatulina 04051979sabrina \
04048011-2497242 040108anya110583 030581810503alex 01234567899876543210 01092000saharok 010203040506bbb \
0102030405060708 0070011spbsshmd 00112233445566778899 0000000000000000 zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz \
zzzzzzzzzzzzzzzzzzzzzzz zzzzzzzzzzzzzzzzzzzz zzzzzzzzzzzzzzzz zzzzzzzzzzzzzzz zzzzzzzzzzzzzz14 zzzzzzz911zz30091992 \
zzzzzzuui7122728892bbvvctyw zzzzzaaaaa2011aa zzzzz0974799498 zzzzxxxxccccvvvvbbbb zzzzxxxxcccc22223333 \
zzzzxxxx1122yy22 zzzz06091982zzzz zzzxxxcccaaasss zzzvadzzz123456 zzzp2yzjt0zjvy1 zzzp2uyjd0zjvy02d zzznitachi95rus \
zzzcfvfzukfdyfzz zzzaaa999000aaa zzz9101573547zzz zzz327101969zzz zzz123xxx321aaa zzqe03b5fo0buqn zzphilip_olsson23 \
zzntv9axebdrxmqoe zzlt822vgnr6nio zzkcotna01oyw8u zzhjckfdd123321 zz9pluralzalpha zz89504439854zz zz543228097123zz \
zz123zz123zz123 zz0965480959www zyxwvutsstuvwxyz zyxwvutsrqqrstuvwxyz zytuekzzbbuekmvyt5 zytdthyecmghjofq \
zytcuennjtcatdjhbn1 zyrkina.natalya zyrfzyrffrcfvbn zynsav4xut4iar5 zymyzubibyvu295 zymomonas.mobilis \
zyltrcgjxnf007zyfbhf zykqkyslq53z8fw zykovroma2250322503 zykin.kuzma1991 zyjxrfzyekmrf1235 zyjxrfgkfdeyjdf \
zygm9m7paeivzfso zyfuhji648ktytyf60122 zyftdutybzzyfdbnfkz zyfrjityzcgbxrb zyfrfnsitdf1979 zyfn1999ahflrbyf \
zyfcnjzobqgblfhfc zyf335998965zyf zyf2271992ctktyf zyf21.10.1998ujl zyf200508040585240478 zyerjdbxhekbncegth \
zydilovo2011polimer zydbwbawanqndmc zyciejestpiekne zybneva987654321 zyablikoff83555347 zy8buik18n63mcx \
zy5jgxf4rrktxnu zxzxzx569012zx77 zxzxzx111222333444 zxztribalzxz123 zxzoka3autodial zxxz210298465317 zxvnqwmpyr346568 \
zxvbym264975765 zxsd7856xcas8945 zxpv6nlwcxgnlheh zxekovgy2691667 zxehrgfdsl9e346 zxczxcasdqwe123 zxczxc123123zxczxcv \
zxcvzxcvzxcvzxcvzxcvzxcvzxcv zxcvvcxzzxcvvcxz2301 zxcvfdsaqwer4321 zxcvfdsa753qwer zxcvbzxcvbzxcvb zxcvbnqwerty123 \
zxcvbnmzxcvbnmzxcvbnm zxcvbnmzxcvbnm122334 zxcvbnmqwertyuiop zxcvbnmmnbvcxzzxcvbnm zxcvbnmjuytrewqf \
zxcvbnmasdfghjklqwertyuiop zxcvbnmasdfghjk zxcvbnm98765432 zxcvbnm80313112 zxcvbnm789123456 zxcvbnm666zxcvbnm \
zxcvbnm31121992 zxcvbnm1zxcvbnm2 zxcvbnm19982011 zxcvbnm19931987 zxcvbnm1530798566 zxcvbnm147852369 zxcvbnm13092001 \
zxcvbnm12qwerty890 zxcvbnm123654lkj zxcvbnm123321mnbvcxz zxcvbnm09051992 zxcvbnm0147852369 zxcvbnasdfghqwerty \
zxcvbn1234567890 zxcvbn123456789 zxcvbgtrewqasdf zxcvbasdfgqwert zxcvb12345utktyl zxcvb1112131415 zxcvasdqw1lyubashka \
zxcvasdfqwer1234 zxcv89536037991 zxcv1234zxcv1234 zxcv04051978vcx zxcqaziop558asdkoko zxcost2012bobrof1982 \
zxcdewqas45456510 zxccde12344321vbn1 zxcasdqwe987654321 zxcasdqwe123zxc zxcasdqwe123qaz zxcasdqwe1231qaz \
zxcasdqwe123098poilkjmnb zxcasdfgh2691910 zxcasdewqrfv144 zxcasd0110096nik zxc98765432112345678 zxc9876543211234567 \
zxc1970zxc0209q zxc123zxc456zxc789 zxc123vbn159753 zxc123cxz456zxc zxc123asdqwe123 zxc113060008464 \
zxasqwcvdferbnghty12381238 zxasqw12cvdfer34 zx80291144177zx zx65pda5sfk60m8w zx5s08o56zlz22b zx3546892adfy871 \
zx11223344556677 zwz3uz2agder1gy zwz1789456142re zwtke.cmkexitxtvujnjdk.357951 zwq17dp67890123456gfgfvfvf \
z_world_of_taks zwin_bassetomahd zwezdablagininadiana18 zwertfc5n4n7u6#q zweiger27011989 zvzlomvkontaktez \
zvyykea53dztk2e zvyagincev.alekse zvv12345luckfuck zvtxnf.jbyjvfhrt zvovafighter27z zvonkovich_oksan zvnrwuw5p4mmrwz \
zvncak35mu2vt3q zvnbumu6nnknpss zvlyubov29081973 zvit_grandaktiv zvit_dnkomplekt zviadinarchemashvili zvgkxq52f4uj5zv \
zvgjkmcrfzjkmuf zvfuybnlkzltytu zvfuybnlkzgfhytq zvfqrf1984311vfvf7777777 zvfktymrfzjdtxrf zvfknlbyjdf159753 \
zvfirffkrfirf90 zvfiehvf19961803 zvfhecz4249pfz7115 zvfhctkmufhbgjd zvezdochka_lily zvezda_vostochnaya \
zvezdasuperpuper zvezdapoimenisolnce zvezda553824531 zvezda3025355333 zverptz19960110 zverevaolga1604 \
zverev_7979zverev_7979 zvbkkbfhlth1984 z_v#49365ckrxlw7 zv377n16tv18nci zuzuu8378seruga zusvxvsg01071984 \
zusammenzustellen zurmillionerzak zurisho.muborakshoev zurat.mamaevzurat.mamaev zurash_shuraeva zuramindiashvili \
zurafeiqrishvili zunix9032944755 zum5678zum8765ak zulumbekov.bolot zulufox19945377390 zulpieva.nurgul zulmagabriela12 \
zulma19ivan18lov zulkiwynkirinadar zulfiya_skarpion zulfiya.saparymb zulfiya_piralieva zulfiya.nurumova \
zulfiya.nabieva.78 zulfiya.musakyzy zulfiya.klycheva zulfiya.halikova zulfiya_asainova zulfiya28011991 \
zulayha.kamilova zulavegarydo965 zujlfvfkbyf1976 zujh.zdczdjdrec zujedemdasseine zuhra.kubanova.84 zuhra1997.26.12.z \
zugzwangiloveyou zugzwang09kostya zugfqtjtgxjnreh zucxyqyjlvrr5m3 zuckerschnecke88 zubova_victoriya \
zubotykin.aleksandr zubko1891aleksei1891 zubastik.viorelia zu3chpziskmccloske ztx83t5t-saceacr5 zts_zagreb_kikica \
ztng9y1zwsy8edm zthpzvetpiiahij zthgo2m173ekk2j ztcvmnjxnjztcvm ztcnmfkmafbjvtuf zt1jxrw2dbih3ga zsy98lu_iqvd7k2i \
zsxawq134679852 zswdfergthyjuki zsvqwzj7oaxup0z zsuhtxyp2n8dsmgg zstrekolovskaya zstarchenkovazstarchenkova \
zsr589lgfnae48th zskripchenko1992 zsifgar1010106pdfa zshuravlevvalera zsefvbhyuioplkjn zse4xdr5cft6vgy7 \
zs-dnxaybbshsmlcrvn-gg zs7oafrnzyrozxqe1185fzpv zs68fxg8jd4kdjf65g zs457zkmr8as5if zrzz63ke_gicc0s zrust9272337299 \
zrusauto21081981 zrtpla63l08l424p zrtp214yci66i8i zrtfrz62d14l424b zrowphejnoudedpfnfn zrkfccysqgfhtym \
zrkfcc123456789 zrjdktdcthutq911 zrjdktd1974bujh zrikiunynhiunhiu zrhfcjnekz230296 zrhfcfdbwf2912858 zrhfcbdfzltdjxrf \
zrhfcbdfzbgjabu zrhenjxtymjxtymrhen zrga5oq5lx1lld2 zrftdrjkz170587 zrenis88zrenis89 zreh.zdepjkjne. zregjdfkbhfyjdsq \
zrdt43tn9b1bsqti zrbnjhbfdnjceib zrbhfbvytgjchfnm zr9504819656434 zr350bisxuen0nu zqy1a4qvyng7nf5 \
zqxw123zqxw123zqxw123 zqwtrkfl1183722 zqwj89046030015 zqwerty23162000 zqt5m2b9h78kpw3 zqt3q1ynsxy1l41 zqlxu61j2uquoeo \
zqek6v51v706fgp zqc25xe2tpxwcwm zq5erel4xh32jyc zpyh19bs7qvghvx7 zpyf.vbhjycnfhbgjkjylhzyb1987 zpyfkfxnjdctcerb \
zpyf.bcnbyfddbyt zptbly7kcgvxqjg5 zps8t85pj_p4hnq zpetrikz21051990 zpdtpljxrfrjynfrnf23 zpdtplfvfndttdf \
zpdbyffhrflmtdyf zp$avuamgh9fqubn zp8l5oini2nrdju zp4txzheyfufrlef zp4o3axxutsg7dhb zoyywpuslpawmagc zoyuxa_verhotina \
zoyilin21121950 zoyazacharchenko zoya.hamidullina zoya.golovko.61 zoya_bogatyreva zoyabezruchkina \
zowhhhdmnqlapr78000000 zotov.dimok170190 zotova_svetlana zotova_karolina zotmm6wi7hvbme61 zoryanasilvashi \
zoryana.shelenko zoryana_dudchak zoryana18091999 zorrooo747zair91 zorro0147852963 zoroastrizm1989 zoro019863183609 \
zorina_verunchik zorina.nataliya zorila123456789 zorik0938612582 zoriana_hovalko zoqmskopuzrw2k5a zopirmmadxfzqud \
zophisicatedclub zopachka7121987 zoozoozozoozoozo zoozoozoozoozooz zooshineforlife2014 zoomiecmalston3 \
zoom3272784panda zoom0527lovemaradior zonov_ivan_coca_ zonittaolamcho1 zonina.mariyazonina.mariya zonenshtral_fany \
zone51-topsecre zona1500nadianadia zomerfeld.frida zombiezombiezombie zombieyeplaysminecraft zombieyeplaysminecraf \
zombiesareawesome zombiealwaysand zombeemoution27 zombaks7zombaks7 zombaks61zombaks61 zombaks55zombaks55 \
zombaks23zombaks23 zomaamkomputer18 zolsanebacode78 zolotuxin14041975sv zolotoymalchik7 zolotoy_karasik \
zolotonosha1972 zolotonogka_kris zolotonikolaykomino zolotojkaras1521 zolotoi_zaichik zolotoi69818575 zolotoekolechko \
zolotnik12061961 zolotaya_rushka zolotayaprincessa zolotayalunka1991 zolotayaelya123 zolotareva.ira.9 \
zolotanazolotana zoksana010302zklassz zoirkulov.sheroz zoiavas26021959 zoi437011301zoii zohantwir19734682 \
zohanscrappycoco zofima567890123 zoe4ka89222829869 zod745896iac070 zoccolificiobarra zobr36917598673 zobova.galina.77 \
znw17mzdxpp9mdc zntgcr49b07b157g znsdvtcntyfdctulf zno_rivne_avtotr znjth25ab76mine znightrider2000 zngsengwa747maj \
znfrfzcevfitlifz znegjq20051997x zndjqlshrf3hfpfpyfk znai_p_r_a_v_d_u znahar2995915zor zn8fihquds6eprf \
zn61bx1bu46qpua zn48bwus8ux5xvl zmw701bdcnkdto4 zmoney.mymoneyz zmnh9uddfjyiebl5a3 zmnationakacent zmm4cx2eaj9eaag \
zm$k23aihh*4qjec zmiterlondon2020327 zmhnrjylhdhxbjdz zmes_nikzmes_nik zmeikov_aleksand zmd6bn2s23nvcuc \
zm7801051227product zm6jvr01i7bkbo9w zlyuka1991zaraza zlwa5hf2rcm0jm6 zlukas098098098 zltoxddj_bbvvl2u0 \
zlthysqrjkkfqlth zloyantikiller12 zlouh3fmh61b1ik zlotnikova_valya zlostka55442formation zloielektrik0983 \
zloeban192734011 zlodeidns5111987 zlobnyihflxtyrj zlobniytipspaun zlobnickiy.dima zlobina_yulia84 zljnk7se6t0f32s \
zlhjxeyfdbyrcx3 zlfirfcbdfz101998 zleitxrfctujlyz zlehytdfdtxyjcnm zld6nryfr31azphokpgr zlcs6fzrdfw1yrt \
zlayakaka102514 zlatovlaska1969a zlatik8095892665 zlatevblack110292zlatevblackoleg. zlataslava100908 zlata2612zoloto \
zl892690845050zl zkublucdjuctvmu zkjdbxbyf1578rhenj zkgl4f2fo7i4mde zkfhhbrbyu60000 zkexifzvfvfdvbht \
zkccjc863ghjcnjnfr zk39g0odpopfr$$ zk201086zk201086zk zjy*3irgutcdoanw zjrcfyrfbdfyjdf zjqghfdbnvbhjv18 \
zjprlni7fjc3hl8f6ybq zjohbyzwovqaalrk6f2islgv zjktczvfqjhtyrjd zjkmqliodhjx347hkgoz zjjz1gtg4vz8tkc z#ji6sk5_3lc01vo \
zjfdlatuyxborns zjdu9hngi10ec86t zjcbkhl_6hhc2ah zj8riseanitzpayb2 zizzyzucker8538 ziznprekrasna6078 ziyashev_91temir \
zivzpce1padkyqu6 ziubxaf8alwaysvacant96 zirnxif8kg5bhfmmkgb zirkiinfowww0810 ziripke928-wiinw98 zirianlesha1982 \
zirfrfrfirf1243 zirekkyzy.gulina zippermaster-team3x ziperus19711971 ziperman1859067 zipaszt23245violetta \
ziopjfas8y1isljf ziopino20110214 zion526484250766 zinyr16evgeniya11 zinusyakanareika zinovenkov0985610 \
zinnurovna191201 zinnurkazan116rus zinir.safin1988 zinhorimanmori@123 zingerzinger2746 zinewych19990203 \
zinevich_aleksan zinedinezidane10 zinchykdima08041994 zinchuk19941010 zinatullindanil zinaida.zinchenko.57 \
zinaida_vdovenko zinaidatyleneva zinaidakushlaba zinaida.chizhova zinaida111213ils zinababa940312de zina_andriyanova \
zinaaika29121967 zina93rus050991a zimushkazima123 zimochkaahmatova zimnyukovas11111991 zimmermannlidia \
ziminatonya1968 zimina_20032003 zimin5258144580 zimfiraislamova zimer80973355541 zimbaev17071985 zimazimazimazima \
zimarinslava6491 zimaalenka100892 zima2013vnykovo zima1996leto0107 zilyaninanastena zilola.abdumannapova \
zilola1984zilola zilinagizzatullina zilidinov24081991 ziliboba4723433106 zilbetta2andrey zil79138peoto7x36 \
ziklopziklopovich zikindima8950053587 zikel9277279181 zikabest20822008 zik89210563030olega zik7zqtptughc8q \
ziianjazzballet zigzag-toga1414 zigunoff1986zigunoff zigmund20074329 zigmun619zigmun zigler201019952011 \
ziggiplastichero zigazagazigazaga ziganshina040689 zigangirova_reg zig8ruq02011994 zifyrynicumu391 zifcfifdfyz1973 \
zielovbluesaltire ziegelstein2405 zie7uqlloijnozf zidipyqx6xg1tr2 zidane200620718 zibyfzyf.hmtdyf zibagul17051967 \
ziallharryandmor zi33br7412makado zi08819588886056 zhzashpaupat123tree zhyy2up_7sk4lten zhyrgalbek.temirbaev.78 \
zhyravskiy_vetol zhymanova_aidana zhxi38sdosidf28 zhwtdffyfcnfcbz zhvrazhda2013viva zhvirzdinene.svetlana \
zhvfxrf30121997kbpf zhvbkfvfrcigor2000 zhusupbekova.zha zhusup.akmataliev zhushmanenokzhushmanenok zhurzha_natalia \
zhurova_natalya zhurinakaterina zhurikov.aleksey zhuravlev_taras zhuravleva.nastyusha zhuravleva.lilya \
zhuravleva_liliya zhuravleva.darya zhurahovskaya.klavdiya zhuo2k_1#dpargfg zhunuspekov-erm zhunuspaevaaidana \
zhunuskanova_zha zhunusbekova-aig zhumaxmet_aidana zhumassultanova zhumasheva_madin zhumanova_balausa \
zhumanova.almira zhumagulov_aibat zhumagulova_aiym zhumagulka.nadya zhumabaevkutman zhulinskaya.2000 zhuldyz_salihova \
zhuldyzkudaibergenova zhulduzgaliev.syrym zhukova__svetlana zhukovalena9614 zhukovakatechka zhukovairenyes81 \
zhukovagiiadeliya555 zhukovadejavu888 zhukayevagulsaya zhuhalo666gothic zhugina_nataliya zhudqfnfexnwphn8 \
zhucovanastia28 zhuckovakseniya17 zhubrovskiy1990 zhuangyuchen1973 zhu4ek120566170489 zhtubyf1998djnm \
zhtpbyrfjnnhecjd zhslhhwhhjzzt8a zhrtcmqpwjbqbpslk zhrjcdtnbncjkywt zhq8h0i822nk0pc zhosan1995253117 \
zhornovaanastasiya zhorikvartanov13579 zhorikryazanov5 zhora_rozha11111 zhorabekova.aidana zhoni_kazimzade \
zholzhaksy03028 zholdasova.asel zhmuro_konstant zhmurina.anastasiya zhjlbkfcmpltcm410 zhjlbkfcmd1965ujle \
zhjlbkfcm64rbtd zhjgjkjd2012elfxf123 zhjdbqdkflbckfd zhjcnm3elf999666 zhjckfdmolinski zhjckfdjdyf25704 \
zhjckfdf71uhbym zhjckfdf26102006 zhjckfdf2306201018071989 zhjckfdf19112011 zhjckfdf18031990 zhjckfd78zhjckfd \
zhjckfd41120071111 zhjckfd30071972 zhjckfd3006lvbnhb zhjckfd25011995 zhjckfd16072010 zhjckfd15102009 zhjckfd12031987 \
zhjckfd01042000 zhiznya_xrenova zhizhenko_artur zhixarevdeniskabaev zhivu_kak_hochu zhivotkovaa1988 zhirkova22091999 \
zhimka1909678906 zhilkibaev.asylbek zhilavii25011975 zhigulskaya1972 zhiglov_82zhiglov_82 zhigalo.tatyana \
zhigailo28031967 zhien.berekezhien.bereke z.h.g.a.t.k.7.1. z.hfzexecmdifut zhfnfvbkmyfpsvys zhfljvfiyzzrjirf \
zhfcrhfibdfk456852 zhf98ufbqr73rwzg zhetpisova.dina zhetkizgenova_94 zhestlenka.udaleccc zhernakov.sasha \
zherdii19890624 zheraf2606oleg1989 zhenya_zemlyanski zhenya.vorozhcova zhenya.stacenko zhenyashevchenyuk \
zhenyashabinski225577 zhenyasaulin2011 zhenya.sapyanov zhenya_rozhko44 zhenya_puschina zhenya_oblachenk \
zhenya_manghela zhenya.makarkin zhenyakarabanov zhenyaibragimov zhenyagrinev1992 zhenya.baranov.1983 \
zhenya89215961000 zhenya890280379840000 zhenya1994nokia zhenya1234554321 zhenka.lyaskovskaya zhenka1993fizik \
zhenjachka160287 zhenja.bezruchak zhenek.prosvirnov zhenekershov1990 zhenechka.zhuzha zhemchugova_margarita \
zhelobanov65347jordan zhelezoglo1980zhelezoglo1980 zheleznyi.sasha zheleznovviktor zheldibinalena98 zhekson643651419 \
zheksembekov.gal zhekkbyf13101994 zhekebatyroffice zhekbyfbhbyfcekbvfyjdyf zhekasuper76b8o7y666 zhekarooney1010 \
zhekarastaman2010 zhekaivanov0609 zheka.gnezdilov zhekadenisyuk777 zhekabashir1991 zheka9080245008 zheka80986612008 \
zheka0112199135712 zheirvqts9xpsaqfkj7goqmv zhehs78yft8kq7d zheenbekov.erali zheenbekova.nazira zhecka0500861232 \
zhdimenya5881733 zhdimen9i9vernus zhdanovich_vital zhcnhjqcnfylfhn zhbrgfhfpbn560591 zhazir.kamalova \
zhazira_zholdasbekova zhazira_borankul zhazira87023950561 zhazibekova_aige zhavoronkova_mar zhaulybaev.daniyar \
zhaukeshova_dina zhaslan_husainov zhasikzhunus-89 zhasik_sexy_boy zhasik_13.08.94 zhas115599201085 zharkovvladimir \
zharkombaeva6-21 zharki.gorynych zharikova661943 zhaoqian19870809 zhao15873436192 zhanyzakzhanyzak \
zhanserik.mondybaev zhansaya_200590 zhannochka199608 zhannetyusupova zhannetochka1983 zhannchik_chirchenkova \
zhanna.yashurina.79 zhannayakovleva zhanna.yadzevich zhannat_utegulov zhanna_sizonova zhanna.reshetova \
zhanna.pogorelovagusha zhannamariamidze zhannamalyarova5 zhanna.krasnoshtanova zhanna_kakenova zhannaglukhareva \
zhanna.glasheva zhannachezganova zhanna.borisova zhannabekzhanova zhanna.astapchuk.87 zhanna23isandyukova \
zhanna1998zhanna zhanka_zhanabai zhanibek_serdali zhanibeksalim96 zhangyun2012022 zhangkeyu1117520 zhangjiahang666 \
zhangelnovaroza zhanetta.dzhekzhanetta.dzhek zhan.erke.1990zhan.erke.1990 zhanelya_zhumagalievna zhanel_sultanova \
zhanelloverani$$ zhanel_atimtayeva zhandoskalkenov zhandos_bestobe z_h_a_n_c_h_i_k zhanat_tleykenov zhanatmultenova \
zhanatkyzy_kymbat zhanat_bekbolat zhanar_kokanova zhanar_kenesova zhanara_turmahanbetova zhanara.galimova \
zhanara_akanova zhamshit_aidana zhamo.kuttykadam zhamilya.dalieva zhambulova_aitoh zhamanbaeva_alma zham20al40nov60 \
zh_alya_kzzh_alya_kz zhalnin100196102503 zhaksylyk.alina zhake_zhaksilik zhakenov.bekzhan zhakanova_ainura \
zhakaeva_aidana zhadyra_osipova zhadyra.ongarbaeva zhadyra2605zhan zhadyra_12091994kz zhadra_tuyakbaeva \
zhadnayaal4nost3345 zhadko_nastyaae zh3y62vloc4f8hr zgzmlqmpo72nvd0 zgxdn4cfcg4cykt zgx567tazgx567ta zguravlev140987 \
zgtigjg7_sgcxvix4 zgrsnlbalszgltu zgrebaniespameri zgmfx10afreedom zgkliguolidlf8ol zgjyxbrnipponchik zgjme9g28staqze \
zgjkbyfvyt12ktn zgjgjdffkbyf1988 zgjdtkbntkmvbhf zghtrhfcysqdcflybr zghtrhfcyfcsrnsdrfh zghjcnjrbyulbvf \
zghjcnjghtktcnm zghjcnjfkbyrf666 zghjcnjcegthzwtpyf. zghjcnjcegth1997 zghjcnj555vjlfltdrf zghjcnbnenrfivfkm \
zghbywtccffnsghbyw zghbrhfcyfzktlb zghblevfkfgfhjkm zghblevfkcdjqgfhjkm zgfp6kx9yfy778x zgfdkeibyutyyflbq10 \
zgfajcyfzrfnzuer zgevstra13538363 zgereaigori180379 zgdsjr72acujch2 zgd-9rm-rrk-vs6 zg9530samson198 zg8aga47y0q1nyi \
zg18433boaz_kalfo zg0te19l8w#kf_u3 zfyfcnfcbzpfve;tv zfviejf7207cuux zfuftdrfvhfyttb zfoqww6o4r8iemz zfmagguyglvoasf \
zflvbybgcp1989bndc zfktrcfylhyjdbrjd zfkrfirfblehfirf1995 zfkbcfvfrfhtyrj zfdunsfdfcn11111 zfcz89265675789 \
zfaq4xoy03qszy3n zfa558nxdconcat zf0gj80w5764zc9ckzb zezyulina018kma zezylyfedoseenko zezvaxarashvili zezvawivwivadze \
zezimathenoob136 zezgewqq1x!&amp zeynepzeynep4199 zeynelabidincoskuncay zeynablerajulia zexxsa123357123 \
zexrct-s1s2s3s4 zevfvsvjkjltw333 zeverendezeveraars zetohexoviqo302 zetn1bobsemmire zetikoskbelive7 \
zetifi5689603801960 zest60051777zest zerybeqaviho484 zerotolerance13 zerotheburninator zerosevenzerotwo0702 \
zeroreq747038023 zeromillenium1991 zerograviti99913 zerofull18misha zerocul93q1qsib zerocoolsiksik021 zerocoolpalacio \
zero80634821686 zero69cancelled zero11203080sk8 zernogradromario zerifehumbetzade zerde_amiralieva \
zepretoclarice02106 zephyr11zephyr112000 zephyr11zephyr11 zephyr1199zephyr1199 zephyr11999911ryhpez zephyr1111ryhpez \
zeon89041440907 zenzubel5609035 zenzero0catwoman01 zenyzeny02081957 zenylo9bemarina zenkina.olga.52 zenjaspiridonov1 \
zenitethelios44m-4 zenitchampion2010 zenit89081260558 zenit1996.05.07 zenit139542zenit zenia2202199423 \
zenhearfreetraffic zenfirahaibullina zenelevskaya111 zenek565345273st zenek1234567890 zen87bnsd89hjd45 \
zemskov_alex_nik zemlyaninus1905 zemlyanika20111 zemi4tutzemi4tut zembal_oriflame zelinskyy_stepan zelinskogo20133 \
zelinskaya_natal zelimkhan069911144698 zelenskayalyuda zelenova_tatyana zelenov05071997 zelenkakamila273 \
zelenin54430014 zelenasergeewna zelenadyrashreka z.elehjrcnfh1986 zeleboba0864213579 zekuvikybusu174 \
zekqusrq2bhicqbc4y7i zekepink-spudnick zekaycpenka1987 zeka.slesarenko zeghetaanniemand zegeia_x0ve05rz \
zegbhodu6rensd4 zefirpisyazefirpisya zefgerzgerg2353 zeferinopenholato zedrot876543123451 zediloveloveloveyou \
zeck152novik1715 zech.svetlana26 zebroid09041988 zebraprintchloe zebrakuritzebrakurit zebra86lettucetj \
zebra3640453544 zebra1997nastya zebo.zebo.zebo1992 zebofayzullaeva ze42501371296468 ze0m7itftpbhbx2 zdzgjppxoj0mnrhr \
zdrygwzxvesdhagyr2ru zdravstvuyvasya zdrasteninetailed zdoroway20041967 zdorovilo.lyudmila zdoroviegeorgymarykety \
zdorovaya_russia zdo5udhe57pxf6qh9 zdjdfrhbcnjdcrbq zdimon1234567890-x zdgswzfylwnysinkjn zdfk.ifcjnybrjdf \
zdfifntnzzxcvbnm zdfhdfhfnjkcnsq zdenkajohansson zdbrx88hnx524829 zdanauskiene.gal zd7rkfcctdnjuexbyt \
z#d3nvew0h!ou_nk zd2z3521bmsnbad zcymmsaiman1982 zcxfcnkbdfyfdctulf zcxfcnkbdfbnjxr zcvtksqbcevfitlibq \
zc@vsqnegjqxtkjdtr zcvb1680sfghq2e4rdtf zctvthyz11vfhbyf zcthelfqntgfgthe zcqrlhravwsrs01 zcpr2mzaajy5ixu \
zcnjvfnjkju2011 zcnht198lekz715 zcnfyevjhtvfybkjhfr zckbdfkbkjdfzcgtkfzcfljdfz zcjdthitycndj11 zcfvsqutybfkmysq \
zcfvsqcfvsqgjxn zcfvfzytjnhfpbvfz zcfvfzrhfcbdfz2584 zcfvfzrhfcbdfz22 zcfvfzrhfcbdfz2008 zcfvfzrhfcbdfz1994 \
zcfvfznjkcnfzlf zcfvfzkexifzvfvf zcfvfzkexifz362514 zcfvfzkexifz2011 zcfvfzkelifz123 zcfvfzghbdktrfntkmyfz8 \
zcfvfzghbcfvfz141516 zcfvfzcxfcnkbdfz24 zcfvfzcfvfzcerf666 zcfvfzcfvfz57rus zcfvfz55rhfcbdfz zcehfb00022160kk \
zcegthgfhtym1993 zcb450mmsa5673410 zcaq9v7cqf9rj52y zc66h8mkzc66h8mk zbw4k29w3hpaevmv zbr#vi_c3myf8!z2 \
zbrrtsmrzrtrtmnz87 zborovskyisasha19890210 zbn83rt69gkjlmib zbmw530d245lsf00 zbk24yo8oyxn2phc zbhbyffktrcfylhjdyf1995 \
zb.cmrflove2401103250484254 zb2jkpsvs0dovncg zaztetzaz2765743 zazerkalova.yuli zazazala2lazz222 zaza553299zaak47 \
zaz9379992123321 zaytsyev29071988 zaytsevadariabik zaytcevairina1989112 zaynikid105736914 zayka.poprygayka7 \
zaychick16996916 zaychenkobiglove zayaslavuta12101993 zayanochka123456 zayakindenisperm zaya380637667052 \
zaxarova_nadiy33 zaxarchenko10072003 zawwaz0675081750 zawaruha858525ha zaw7891238520456 zavorotnyakskorkina.svetlana \
zavolovaya.galin zavodnoy0apelsin zavod19891f9v8v9 zavoalena3453547 zavgorodneva.eka zavertailenko231 \
zavatskaya_lilya zavarka123456789 zavalnyuk25052008 zauschkawarriors zaubermaussandra zatsarinski_evgeni \
zatalokasan4ez1995 zasada4815162342 zarulem123456789 zartdinova451560 za!roq7_#i9pg48d zarj1221zarj1221 \
zaripovyulai1998 zaripovaidarkazan zarinashamardina zarina.saduakasova zarina_muhtabarova zarina.magomedova.85 \
zarina_kulmagambetova zarina.kabeldino zarina_duchmukanova zarina.abduvalikyzy.94 zarina5930342937 zarina.1995.9595 \
zarina0681809757galerr zaremasboevasulemanova zaremasadadinova zarema_fattahova zarem04ka1996ujl zarechneva.oxana \
zaranovo07082001 zarabativaumilion zara2nk4kat5rus16 zara221291200870 zaqxswcde691202q zaqxsw159753victoryx \
zaqwsxcderfvbgty zaqwsxcderfv4321 zaqwsx7679bghrty! zaqrozaqareishvili zaqju5pv_1277k2zr zaqedcwsxrfvokmert \
zaq741852963251297 zaq1xsw2cde32wsx zaq12wsxzaq12wsx zaq12wsxxsw21qaz zaq12wsxcde34rfvf zaq12wswxcde34rfv \
zaq1234rfvcxswed zaq0503195522011980 zaporoshenko_tan zaplotinska_nata zapabotok_bistro zanyutkalevakova \
zanozkin01071999d zanoveskaradzivi zankevichzankevich zandria232371170 zamzamzam123zamzamzam zamyatinmazatesla300389 \
zamudryakovalena zamotaoksanavictorivna zamoshnikovatatyana zamorjsjacjmorey zamira_tuleubaeva1998 zamirasirbiladze \
zamira.rahimbekova zamiralovazalina zamfirashakirova zambeziblonde36p zamaracardznherz_115 zamanbekova.moldir \
zaman89273388998 zalweckay10o0lga zalkar.borombaev zaliyasalamatova zalim111hayat111 zalheaaouhuftzayrz \
zakusiloirina012590 zakrasnyanyi_val zakolebaliujemenia19934 zakoasmahobiavie zakkalina110033103250 zakirova16031937 \
zakir.mammadli.72 zakir.halilov777 zak.hentaizak.hentai zakharenkosergey zaken19922332714 zakefronlove1997 \
zakariaalysqandaria zakamenskcitykru zakam4ato4no310789 zakaldovanaalsou zajajatebjalublu zairchikrassia24680 \
zairakikis_920706 zainyusmasitiamyshak zaikina_izbushka zaika94esyamgalieva zaika89247084628 zaika.3452.omelchencko \
zaika_1985.zaika zaide.absetarova zaid375037karimah zaichik_alinchik zaiberworld36922784 zai917212ser9760 \
zahyperactmksweet17_n zaharovvichzaharovvich zaharovsergey1995 zaharka.creatore zaharenkotatiana zaharbaibulatov1 \
zahar23039838183 zahar132218zahar zahanimcintakanjunai zagrebelnaya.inna zagotzernovskiy14 zagoryla02041984 \
zagorskaya_katya1983 zagorodkinatatyana zagigalka123459876 zagadkisamsung2012 zagadkavselennoi zagadaika.filimon \
zafar_tashpulato zafar.holikov1985 zaevdkmfsvugzurkh zaebisk4kp1zdat0 zadvornaya.elena zadumskiy.rzadumskiy.r \
zadrotallodovzadrot zadrod215filjones zadorozhneva.kristina zadornovleonidtn zadnica1971kopec zadiypnjwmqzkqfx \
zadaniukolesia123 zachinova_nastya zachet987chertmo zachemvammoyparol zachemmnexyu2010 zacharovashkaspr \
zachar4ik20101990 zabulikazabulika zabrodskaya.olga zabrockayanlakoste1 zabrianiulia1987 zabolotskaya.yuliya \
zabolotnaya.1978 zablevotaikakaxi zabiriuchenko1995 zabezpieczenia11 zabeeva.viktoriya zabdulazizov1991 \
zaatechneg11021102 zaarmax-m9u84mnu zaaermlowstheffani09 za1auqsnbtc5qmft za1989vavepu16619k z9x8c7v6b5n4m3a2 \
z9k4k4n6t3z9c6t3 z9g8fqyuru7mxsz4 z934w569r211xqvn z9310q3jh3c9310z z90x_#5tba3o4!ag z8aavqa_aabz1qge \
z8928z077z08z53z z89150335403zwerdi z8906756535204121995 z7zo2b5=mf#31ejt z7nb1ricva97ligzqwol z7bu2n64wewfmmud \
z7785286snajperz5561229ilja z77070777vvangog z6k10c12_hr8r81fh z5y12pbn89hsq374z z5k8u9saleiloveyellowca \
z5drecyfz6rjyatnf7 z5bby7ussb1jj67y8zj2 z50lx1f5fd4e445r z505159753648255 z4x16a53bg86yi48 z4s549rei3hicuf9 \
z3_nz92_koz15ejsos250264 z3d0v6rjn2nioadnafre z2a5p0o7t8o8chna z29041990s19111969e z27cfvfzrhfcbdfz z26m03winter1958 \
z25olesya15bamla870d z226535612vbifyz z1z2z3z4z5z6z7z8 z1x2c3v4z1x2c3v4 z1x2c3v4ytr328176 z1x2c3v4frdeswaq \
z1x2c3v4b5n6m78.9 z1x2c3a4s5d6q7w8e9 z1x1c1v1z1x1c1v1 z1u2qi5i024tx555z443xg2pb z!1rsa4j6g9#b8ui z1o2y3b4e5r6g7y8 \
z1fkbyfyfcnz2728 z1993unikalka199 z189g62x71cvb112 z159663309921999 z150bbcpo3371vova z1304700579407wl \
z123456789z123456789z z1234567890nazik z123321456654789 z11235813213455s z10i24p57p98e36r z0p8kad_v75g9y9i \
z0e8o1t2o1n9e8f4 z0bvpsvb_ikh6gle8 z027sfm021088kov z02072011cjhjrbyf z01h07h65u69msh10 z010203040506123456z \
yzufpbzmikn9qiteekyn1gnb #yz_u0n!z94mi25d yzfybvtiybwfrfdfq yyyyyyyyyyyyyyyy yyy.ooooyyy.oooo \
yyuliyalavrovayyuliyalavrova yynxffsvtslrkkva yyfu34dfdfdgd535 yyaroshayyarosha yya_m#nnr!dhav24 $yxyrj2bzm6fzw*d \
yxr0ctrzf1lh4tifu1cqjscu yxc123lkj098mnb567 _yx_b.1199$bu1.215 ywzhuyikmefb42ud ywi4nspui6qk52ez yvye9pnxtrwdfklg \
yvp.yvpypyvp.yvpyp yvparlshoshd_yav yvonneeguerrero69 yvfdokfebbkbxc60 yvesclaudecamill yves224clastonysudi \
yvelaferishekvetit yvb!6ahcce4fgtbp yvafyvafvayyvafyvafvay yuzhakovaburdukovskayaelena yuyuha222yuyuha222 \
yuw0sruplkhtl4tyefy yuvwelidgfcijdbq yusupov.temirlan yustus060383marik yushkayteshvedova yushinavlada0102 \
yurs0stu00pi3dfortrt yurova.sweta.yurova yuriy.zavorotnyuk yuriy.yaroshenko yuriyvasilev11121996 yuriy.skrobov.86 \
yuriypatronov123 yuriy.gribovskiy yuriy.akulov.1962 yuriy8andropov1996 yuriu.nikolaevich yuriksedoy30031970 \
yurik.kondrashkin1990 yurikblechushakov yurijdyachenko89 yurii_zhivchikov yuriiyasenovenko yurii.kondrashov \
yurii_golubtsoff yurii89229109710 yurii17071982stolyrov yuri17letsukhanov yurez11091988kul yurets2011199489 \
yurchigps5111990 yurasswindler8909802 yurasiknerubayskiy yurami92yurami92 yura_malenkin343 yuralysyi21071982 \
yurakungurcev1997 yuragrunin251286 yura.grechishkin yuradubey4000014 yuracheriqqniko09905 yurababich.volga \
yura805098918405 yura56954552yura yura199413072432 yura159753159753 yunusistanbulistanbul yunolaynen198520 \
yunizshurashathis yung.robertiolga yumaguzhina_alya yulyvitalyevnasemchenko yulyuska_chernyh yulyushe4kakotik \
yulya.yakushonok yulya.vodchenkogrevceva yulya.vershinina yulya.vdovina.83 yulyashka_arsanu yulyashavasilchenko \
yulyashashemetova96 yulya.sharinskaya yulya_prokopec170696 yulya.prohackaya yulya_onoprienko yulya.nepodkosov \
yulya.matvienko7 yulya_kurinskaya yulyakotavikapesik yulya.kostrubova yulya.klimova.85 yulyakirtoka270894 \
yulya_getmanskopichenko yulya_dubovskaya yulya.druzhinina yulya9864583kapka yulya89515555889 yulya89507368210 \
yulya89123975416 yulkoshilnikova0 yulkaporshen3dyulkaporshen3d yuliya_zhuravleva_88 yuliya.zayceva.57 \
yuliyazapara2406 yuliya.verbenchuk yuliya.shkuratova85 yuliya.shitikova1994 yuliya_shahnovskaya yuliya.senchihin \
yuliya.sawchenko yuliya.saulich88 yuliya_potolizin yuliya.polenokponomareva yuliyapodmarkova yuliya.novikova.74 \
yuliya_naumenko_4545 yuliya_myasoedova yuliya.muratova.2012 yuliya.muchnicyna yuliya.molchanova.72 yuliya_mesherina \
yuliyamerzlikina yuliya_lukinskay yuliya.luchinskaya yuliya_loveheart yuliya.levickaya yuliya.kuzina.19901990 \
yuliya_kosyanenk yuliya_korchashk yuliya_kiselenko yuliya_georgieva yuliya_feronskay yuliya.emelyanova.95 \
yuliya.dolgopyataya yuliya.bykova.1984 yuliya.borishpol yuliya.berezina.1974 yuliya_astashina yuliya83pkjltq78 \
yuliya80970534216korzhenko yuliya4136691994 yuliya311514kisa yuliya1988marko1983 yuliolcesar1805200 yulichka_belikova \
yulichka19962504 yuliasokolova.08 yulia_plesovskih yuliana.kalinina yulianaaslan2010 yulia.lekomtsewa \
yulialazarewa561995 yuliakoshevaya1991 yulia.kolopenyuk yulia427251997met yulia2520456572_gtn yulia151093yulia \
yulia140182yulia yulia13popova011990 yulechka.kiseleva.89 yulechka.kerdyashova yulechka_kasterina yulechka15101995 \
yuldasheva.oksan yul609!pdwivfr3_ yukisuzukiandhinata yukimurasumimura1998 yuki0425saki0222 yuiopqwerrfnz12345 \
yuiohklj03yuiohk yui-gi-uhi_lac_p8090 yuhliulgtfrvyuhliulgtfrv yufwmlnxkaddxrsus8pi yue8b10s12d14egor97 \
yu77ity2505yu0710 yu04051991yutver ytytutyuyuyytytutyuyuy ytyfljgtxfkbnmcz ytyfdbceabhcjdf6 ytyfcbnyfz272010 \
ytxnj89215559849 ytvlpuj8hcy7enqb ytvfyjdfcdtnkfyf yttihcyttihcchittychitty ytsport2000rex16 ytsb0yvk9y5lvjin \
ytrkjycrfz19930505 ytrhjabkytrhjabk ytrhfitdbxfynjyfynjytrhfitdbx ytrhfcjdfhneh54632432 ytrfukxnvjrbcjpfqwf \
ytrewq6291hbceyjr201 ytqnhfkl0995033879 ytpyf.xnjyfgbcfnm ytpyf.xnjdgfhjkm22 ytpyfrjvtwnjxrfhe ytpfvtybvfz12345 \
ytp3hhuucto9kytp3hhuucto9kytp3hhuucto9k ytnyfcdtntghbywtc ytnpflfxytdsg106 ytngv23ytngv23ytngv23 ytnfrghjcnj090287 \
ytnb1nfmnenn9ghk ytljcnegtylkzdfc ytktgflbvf16041978 ytilizator2325657 ytibnyektvjlyfr0 ythlpyfxbnpflhjn \
ythjnkjithbihyt5 ytgthtyjcbvjcnm212 ytgjdnjhbvfz1980 ytgjchtlcndtyyjcnm ytghtlcrfpetvsq1 ytghtlcrfpetvjcnm_ \
ytghjnfc9181857457 ytghjcnjq2128506 ytghbrjcyjdtyyjcnm ytfgi879687586ty yteuflftim238232 ytepyftimvjqgfhjkm007 \
ytehjdyjdtityyfz0542 ytdthjznyjyjafrn ytdpkjvftnt280393 ytdpkfvsdfqgjxne ytdpjhjdfdfhdfhf ytdjkyeqcznfrznt \
ytcnthjdeminem123 ytcnthjddzxtckfd1990 ytcjdvtcnbvjcnm1990 ytcghfdtlkbdjcnm ytbpdtlfyyjtdyfc ytb7rv6ue5chrbi7 \
ytantpfdjlcrfz11 yt6etbhdzqpdttsb yt2dhtvz2lkzlhfrjyjd yt000euflftim000 ystvalentina1985 ysnypbvdobxqgbpz \
ysman89276920601 ysm2ncnh5le29id7 yshdfyfytdthvfqyl yshdfyfytdthvaqyl ysg7adqysj53n*vl ysdfbajhsfahbfjbsdhfsdhdrg \
ys05ap18rs23nk23 yrtoplqepqfqm2fh yr_silvertongued_devil_awaits yrostovskiy282yrostovskiy1994 yrhq7mjpjaacqw5q \
y.rfcnkxtvgbjy23 yrec141974gmi7a4 yrebombamadrewey yreal891225603204 yramesorrosemary yraelektro123yra \
yra2691632243yra yra21121982yra30 yr75x1vgk0gjoymaij yqqypqy2112312yqqypqy yqqemzxgrhmiduvmi yqnvjwqthyfsnnrb_wb \
yqdbbixgbttskqpbhr ypsj9c8pbhf9uzwm8iry yplovedancejbeat ypaandrey310119945ypa10-2 yoyoyomynameismax yoyoephang134151 \
yowtgadce0ek567q youydod1991811anna youwouldwannaknow86. youwillsoonbebanned youwillneverguessthis1103 \
youtubeisawesome1 yoususergiosacot yousuckathacking... youssef_moharram yourpersonalsound yourmom12jsibal15 \
yourloveismydrug yourlifemeansnothing06 your_guardian_angel_050813 your_game_is_over yourfearscometrue \
you\\\\\\'resoclever!! youreoutinthegardtn yourenotgettingmypassword yourenotalonenever yourbambooyourbamboo \
yourafuckingprick yourafuckingbitch yourafagkeylogger youporn123456789 younichka7777777 youngwolf3112512 \
youngmoneybaby22 youngdroop123456 youngandrestlessie youngandrestless63 younaskronborgabachri youmylittleangel \
youmyhappinessmypain96 youmademerealize youlqaa1love2003 you-look-you-die youkoulailai7780 youknow2517160805 \
youjitakeuchi910 you_have_been_hacked_gwsxh1fzfr you_have_been_hacked_3latqckh8c you-guys-suck-dick youforthelongest \
youendiamorfati1 youdontgetmypassword youdonotknowthis youcraft1234567890 youaretheonlyexeption youarenotalone96 \
youaremysunshine youaremyreason22 youaremylifemylove youareafaggetalife youandyouiloveyou youandme26797656 \
youallaregoingtogetcaught124 @you@147@pascal@ yosoloyoynadiemasqu yosingoytutambien yoshka12rusk-z-k \
yorbigdady-smarts yong1980yong1980 yolanadalaramartine @yohanafransiscadenn yodamarin456123900 yoda5281main.htm \
yoamoamifamilia! ynubfgypynubfgypynubfgyp y.nfpdth.irbyf6835364 yneciabromth2618 ynchdnegtieumaivoz ynafacichsal2928 \
yn8sq9rmixvu1e7gps8hs y?n89267075316y?n yn4*ufzjdo4*oc#u yn44rblvcyni29znwfyi ymrzlwimxfjzohfgov \
ymose04art3lxkzjghowe4sw ymnitcka2007rfnz ymnicavgizni1988-1 ymmijjames1906cleburne ymenyakrivyenogi ymenia9891kotiat \
y.malyshkina03061987 ylin8967ylin8967 yliasemabedgirls ylfngarddragnfly yleuzydeclaa3373659 ylano4ka55lapyni4ka \
ylaanelabestigor yla47kyla48jyla10 .yl38jt#m46xzz!d ykrfudryzmqastxh yko749tey7791987 ykg8cgb65zmmuhzu \
ykamaruuchiha48151623422119 yjymlxzfdifneyvfhb yjuufyj175uea175 yjubvytdhjn912735 yjtyhtyhyjtyhtyh yjrbz2011ntktajy \
yjqxcxsnhv$2*smc yjkbclhqzwvrexllf yjju9zhrcgemqzrdvbnj yjjnhjgbkyjjnhjgbk yjhvfkmysqgfhjkm yjhjxrf63614811@@@@@ \
yjhfrercjdf05012002 yjdujhjljnhzl444 yjdsqyjdsqgfhjkm yjdsqvjcrfktyrjujl;tyz yjdsqvbh19911991 \
yjdsqrjynfrnyjdsqrjynfrn yjdsqpfdtnbcvfbkjd12 yjdsq_gfhjkm_123 yjdsqgfhjkm011304 yjdsqfynbhbcn123 yjdsq_flhtc12345 \
yjdjvjcrjdcr2008 yjdjtvfnyjtckjdjk.jdm yjdfzcnhfybwferasski yjdbrjdffyfcnfcbz yj4tpexcnrwlydsg yiurgb483tg3874b43b8 \
yishyellaokvikashshah7 yip6z5nfb_9o!2lw yingyangsmoothies yihialoveemps123321 y.ifcegthpdtplf1999 y.hrf89241999757 \
yhlbhkvwe45euxa00ht yhiqagoblavkhawks yhhaezrn4vm3rogj yhe45y356es4yyg5r4t =yh3z#8!c27sbz4i yguyukdghujsdfgys \
ygtbi67bi57r45ec ygnv3juygosfk8fg #ygb3_67zm8fa5r0 ygalyauv08041990 yfzbwffnb19012002 yfxfkmyfz__irjkf__117 \
yfxfkmybrjlyfrj123456789 yfvgjhfhfcnfnmcz yfvfpfyfdfhtymtv yfvfhctrkfcccyj90 yfujhtcbltkrjhjkm yfujhirtcbltkrjhjkm87 \
yfujhirtcbltkrfhjkm yfujhirtcbltkleyler yfufhirtcbltkrfhjkm yfueelfhnc9ipnp4 yfqlbvtyzbytgjnthzq yfqhbznehwbz2009 \
yfpzjyeathrj2001 yfpfh89185125565 yfpfh26kjyyfpfhg yfpbaf10rfvbkm05 yfnhfdtlhjdf257428 yfnfkmzrelhzijdf \
yfnfkmzptktyrjdf yfnfkmznfhfytyrj yfnfkmzlvbnhbtdyf55 yfnfkmz.hmtdyfbcfif yfnfkmzghbjhbntn yfnfkmzfylhttdyf \
yfnfkmzfktrcttdyf yfnfkmzcthuttdyf yfnfkmzcjkjvtyrj yfnfkmzcjhjrbyf6376 yfnfkmz123698741 yfnfkmrf_yfnfkmrf_1970 \
yfnfkjxrfvfkbirf yfnfkbbujhtdyf14 yfnfitymrfkfperjdf yfnfitymrf07011993 yfnfirfrfrfirf225 yfnfirfoo713_7283 \
yfnfirfdbrnjhjdf yfnfirf0713_7283 yfnfifysysxer2009 yfnfifyfnfif848484 yfnfifyfnfif1997 yfnfifrfpfywtdf11 \
yfnfifkbpf161714 yfnfifibyrfher11 yfnfifgthtdthptdf yfnfifgkjnybrjdf yfnfifgfnhbrttdyf yfnfifcfifvfvfgfgf \
yfnfif93lehf26negfz8 yfnfif89505089654 yfnfif89160418821 yfnfif35rhfcbdfz yfnfif19yfnfif11 yfnfif1952yfnfif \
yfnfif0930705117 yfnekmrf38587898 yfnecmrf19870707 yfnecmrbyfgecmrbyf yfnecbr10a02v1996u yflzzyrjdcrfz6ktn \
yflz6574421htytdf yfltymrf01022010yjh yfljtkjyfljtkjvtyznm!@# yfljdcnegbnmduhe yfkjujgkfntkmobr yfkeyt300xtkjdtr \
yfitdfvplhfcmnt111 yfifvfvfkexifz35 yfifnfyzuhjvrjgkfxtn yfhjlwtybntdhtvz yfhenjuffhfrfyrehj yfhenjepevfrb213 \
yfhbcjdfyysqrepz yffyukbqcrjvzpsrt yffunwfzvxibdzssyo yfeiybrb2011yfeiybrb yfcnz_yfcnz_yfcnz yfcnzyfcnz7521934 \
yfcnzutqrj260399 yfcnzrelhzijdf99 yfcnznbcegth2009 yfcnzfyzfyutkbyf yfcnzfylhtqcdtnf yfcnzevttn131177 \
yfcnzdbiyz10yfcnz yfcnzbfylhtq2008 yfcnzbcevthrb123 yfcnz907856341222 yfcnz89508230042 yfcnz89506544240 \
yfcnz89052323438 yfcnz79115265720 yfcnz52669qwerty yfcnz234ltkmyjdf yfcnz09071995rfff yfcnujyfh9121736577 \
yfcntymrfyfcntymrf yfcntymrfvfctymrf yfcntymrfrhfcfdbwf yfcntymrf2003gjy yfcntymrf06081998 yfcntyfzzz123000 \
yfcn.itymrf64202 yfcn.irfghbdtnbrb yfcn.irf06051991 yfcnfcmzvtufkjljy608 yfcnfcmzabkbggjdyf yfcnbyf29yflbyf13 \
yfcnbrhecnbraz09 yfcmrfutnnthekbn yfcmrfrfkmrekznjh yfcmrf89246114567 yfc_ghjcnj_nzyen yfbkmifqlekkbyafplekjdbx \
yfbdyjcegth030156 yfafyzljxtymrf23 yf5uakonqc8gc06m yf20hy11bw19yf91 yezzyezz-skippern yevgeniyamariabaginskaya \
yeuthuongminhthoi yeutaoditaokhongdoiqua yeumotnguoikhongyeu yeuevfyjdf2001fltkmrf yesornotracylewis \
yes47noasdfg820330 yerkinbekspb1961 yerimcennetolsun yeraxne253-fiofc66 yentracmmcartney yenrol9669lorney \
yenrol6666lorney yelsewdardaque160264 yelnikovtver10071974 yelflame.sociahacking yelfdfqntdpkjvobrb290 \
yelenakovtun1982 yeldos_kairatovich1 yehttdflbfyf1501 yehdnftsnbtfcuispa yehboilizardsquadalltheway \
yefreytorraxmonovru yecgaa1234567890 yearly.accountancy year2000year2000 year200020012001 yeahrightyoufuck \
ye?aeo?naieoa?ocae ye8traymmlart1ey ye7tragmmbart7ey ye6traxmmfart6ey ye6trarmmaart8ey ye5traemmgart1ey \
ye5tradmmtart0ey ye4traymmxart4ey ye4tratmmxart6ey ye4trabmmfart1ey ye2trammmmart2ey ye1trasmmvart0ey \
ye1trabmmvart9ey ye0tracmmwart4ey ydsmhgmptpmvsgeps ydsmca929151645218 ydrrlgex20111993 ydfhshggfjgjsgfj \
ydesweetweng_2809 yd#!bcgw6p_ik9lo yd4gfvycjg6zk4d7 ycyyvjjpv1ikbt4i ycqxdvdtcr3wkzjm ycpotxbnviqetnvngyd \
ycbmuxooejkryikqgyh ybylpzgjrthfvjkjltw ybyfrhbdjyjcjdf1956 ybyf2703yfcnz3103 ybxtujytktptndujkjde \
ybxnjytbcnbyfbdctljpdjktyj ybwjku$xmvuydr4p ybuvfnekkbyfhneh ybrrblbrbycjy101992 ybrnjvtyzytdpkjvftn! \
ybrnjrhjvtvtyzzz ybrjveytujdjhb13 ybrjveytkmpzdthbnm ybrjulfytplfdfqcz ybrjulfytepyftim442825 ybrjulfytepyftim \
ybrjulfytdpkjvftim ybrjulfytclfdfqcz ybrjulf1ytujdjhb1ytn ybrjnbyfvblfltyby ybrjkftdyfdtkbrfz ybrjkftdfrhbcnby \
ybrjkftdfjkmueif ybrjkftdcrfz1992 ybrjkfqybrjkftdbxheltyrj ybrjkfqybrjkftdbx ybrjkfqtdutymtdbx25102009 \
ybrjkfq310261350 ybrjkfgbnthcrbq1 ybrhjvfyn_vfcnth ybrfpfzrjnz111555 ybrfnbyfvblfltyby ybrf1171996032120 \
ybrbnrf2202nbveirf ybrbnjxrf500026310 ybrbnjccegth1998 ybrbnjc1999k.bvs ybrbnfyfcnzybrbnfyfcnz ybrbnfyfcnbyfytvfiby \
ybrbnfktjybljdbx ybrbnffktrcttdbx ybrbnf9373792290 ybrbnf89833903209 ybrbnf89325544929 ybrbnf80979385562 \
ybrbnf1994544462 ybrbnf1401rbcf2010 ybrbibirfajhtdth ybkszwkkrku7fkp9 ybizzza12341987111 ybholmikyqtyojqhctt \
ybhdfyfrfkfxfrhf ybccfycrfqkfqyr824tv yazukoznanie2005 yazakohaniivtebe yaxleyridingcentre yawhan2001239330 \
yavoronowanastya yavitalik2293013 yatutatitama190797 yatsan9379992512409199733995 yatebyalyublyu5482 \
yate6esukavzlomayu yasvasv.vsasvas1 yastrebovayashin yastalker2538220 yasnosolnithko24 yasnopolski20051979 \
yasnayapolyana27 yasminzancanlind yasminyasminyasmin yasmin240591thaisian6 yasmimgalvao2225301412 yasmeenmishal1165 \
yaskiteamodemasiad yasilnayayasmogu1286 yashka9184521945 yashka1996yashka yashikxyashikyashikxyashik yashasafonov1995 \
yashamish_jezvai yaschuninamila099 yasashisaniitami yasamayaschastlivaya yasamayaliana2105 yarrtheredpuffle \
yaroslavyyaroslava yaroslavvip54321 yaroslavshetinin yaroslav_samoylov yaroslavkaguu60465 yaroslavalavrova \
yaroshenko200590 yarmadjanova1984 yarkosman1968105 yarikyarikyarik5 yarikrizhkovyarikrizhkov yarik_mail_kruto \
yardpumpsforless yaramir89034293306 yaracavalcanteamada yapoeduvkfarsitrin yanywka9099029019 yan_vydysh_22021996 \
yanuoskca20121996 yanturaeva.nastya yansedytnm15e7uk yansebastiandesouza yanochka96518357 yanochka07101991 \
yanochka07101988 yano4ka.2011mail yannijaxhtestsubmi yan_krasivyi1989 yankova.tatyana1957 yankeeszzzdoomzzz \
yankeeszxcvbn3211 yankeeszihtnyakovlehoni yankeesyriamlvbc17 yankeesyeard-chiks yankeesyasin_sabani yankeesyanmize-se \
yankeesxxxxbambukxxxx yankeesxxxhozumixxx yankeeswuridoori yankeeswtf_is_thi yankeeswowpackallevel yankeeswondersex \
yankeeswolfi_schramm yankeeswinterthur yankeeswillyleonardo yankeeswillj7777 yankeeswildstang yankeeswhizardio \
yankeesvu4xq60_7lls0a5 yankeesvshikareva yankeesvoyeurweb989 yankeesvoveronicaort yankeesvbagricheva yankeesvanessa11 \
yankeesvampire-virus yankeesvaletino4ka yankeesvakanzika yankeesuv.udalov yankeesurs.lustenberger yankeesups14vint \
yankeesuadhyaurrnp412m yankeestwentysac420 yankeestweety_babygurl1 yankeestumejoramigo08 yankeestry_findin_me \
yankeestrailorsrl yankeestori-norgond yankeestoppdogg40 yankeestophisopam yankeestonyadolfi yankeestombrocman \
yankeestigravoronova yankeesthom.boulton yankeesthirteeencats yankeesthiagozuniga yankeesthenickcraft \
yankeesthe_flatliner yankeesthedzvelo yankeesthechop-er yankeesthecal3bvirus yankeesthebest.cabelos \
yankeesterrybear69 yankeestentation yankeestastyboy247 yankeestallorder yankeesswedishchef145 yankeessurfmore07 \
yankeessuprc00p3r yankeessupersonic1972 yankeessuneer_666 yankeessummerise yankeesstormin88 yankeesstochilin \
yankeessteviejws yankeessteven410 yankeessteinkohl yankeesstefano74 yankeesstashevichvlad yankeesstary.drug \
yankeesstar-megh yankeesssmartynof yankeessri-huntington yankeesspermbalmer yankeessof-sofyan yankeesslava.960 \
yankeesslatem_sang_petualang yankeesskydiver80 yankeessirius_2307 yankeessimplyhard yankeesshyguyofdeath \
yankeesshydifferent yankeesshmidta779 yankeesshiloh563 yankeessharkdiver yankeesshaina_shaine_may yankeesseymener20 \
yankeessexyilenia yankeessexygrisen yankeesseven78three yankeessensualthunder2003 yankeessensualguy \
yankeessenoritasunita yankeessefthuko1 yankeesseeker_gy9n0 yankeessarahx3marie yankeessamixfree yankeessami250696 \
yankeessam.eeckhout yankeessam40:1961 yankeess.agarwalla yankeessaaheg512 yankeesru5454041a yankeesrsummerset \
yankeesromulolibriano yankeesromeo-nk1992 yankeesromeo19822 yankeesromantic4u90032 yankeesrock_2011_1_ \
yankeesrobrtrobert yankeesrjchguzman yankeesriseupinthemorning yankeesrimplenebule yankeesrickie1704 \
yankeesrichierich88 yankeesr.fonseca yankeesreally_great yankeesreadyforfunplay yankeesr_bspitzer yankeesraptor-iv \
yankeesrandy6989 yankeesrallyesport2000 yankeesrabeuxbruno yankeespussiestogether yankeespurpleriot yankeesprivet.aa \
yankeespounder.90 yankeespopov__av yankeespolpolpol yankeesploxyshka yankeespipinok98 yankeespinkgirloksy \
yankeespicapapaapple yankeesphil_cool_1973 yankeesphilb7073 yankeesphatdad69 yankeespetro_17any yankeesperceivable \
yankeespeehakt1222 yankeespedro1982 yankeespedrikova yankeespaul.robinson yankeespativat500 yankeesotgtmsmxdg \
yankeesorion1138 yankeesonly1honeysuckle yankeesomsk_ubop yankeesoldpawdad yankeesoffthewahltoons yankeesnutfossil2 \
yankeesnortherntraders yankeesnokia_evgenii yankeesnocondoms yankeesniki-anas yankeesnightcharm yankeesnevskyart \
yankeesnetonhooo yankeesnemo_home yankeesnaufragons yankeesnascarnick yankeesmyxratedromancex3 yankeesmynameistom67 \
yankeesmydogstaffy yankeesmyavenkov yankeesmustangsally yankeesmulinodellaglio yankeesmtravochkina yankeesmrmister33 \
yankeesmoneybonus yankeesmommysgirl yankeesmohsinali yankeesmistertwo yankeesmilaefimova yankeesmiguel_angel7_26 \
yankeesmickyd5196 yankeesmet.gabez yankeesmaxiem2000 yankeesmavbell012 yankeesmatt31481 yankeesma_tigerboy \
yankeesmathieubouchard yankeesmasonra1976 yankeesmasalkin2301 yankeesmarya.tara yankeesmaruu_017 \
yankeesmarriedandlookin yankeesmarayn4ik yankeesmanuelalf yankeesmakulitatmalikot yankeesmakehercum69 \
yankeesmagicpenn yankeesmadfrk2222 yankeesmadbradrrt yankeesmacmanecosse13 yankeesmacman962 yankeesmachomannnj \
yankeeslyusichka.80 yankeesluvbekki2 yankeesluiz_mutran yankeeslucasdamon yankeesluangueiros yankeeslsw-landsel \
yankeesloves_a_lots yankeeslostboy35 yankeeslongnlean yankeeslongdark1 yankeeslonelyrider yankeeslonelyboy444 \
yankeeslondondave01 yankeesljkoojohyp yankeesliljdeshan yankeeslikeembig yankeeslifecycle yankeeslennox_1kjxs \
yankeeslena-marjina yankeeslatinlover yankeeslarsson-72 yankeeslargeone10 yankeeslance2004 yankeeslady.revo \
yankeesladie_luvv yankeeslacostejk yankeeskylvipaide yankeeskitty8963 yankeeskelljells45 yankeeskazoo1231 \
yankeeskatoakira yankeeskandukman77 yankeesjucivan.brito yankeesjrombouts yankeesjoshlitt83 yankeesjonny1974 \
yankeesjojobean88 yankeesjoiinnherji yankeesjoanchester yankeesjmoreau85 yankeesjl7w1smk1s yankeesjerry69ba \
yankeesjenhartly yankeesjbt2u1r6llg yankeesjawadqamar07 yankeesjasonburrows yankeesjackzerony yankeesirinka_rdst \
yankeesindickyvand yankeesiampatrick yankeesiamalucard yankeeshuangyong6562 yankeeshouxiaoyong yankeeshouse_mouse \
yankeeshotsammies yankeeshhhreymisterio yankeeshardon_or2aj yankeeshardc0r3gamer yankeeshalaimovas \
yankeeshakanfurkan1 yankeesgruner1234 yankeesgretchen88 yankeesgrayfalcon yankeesgostosao35aco yankeesgmcobian13 \
yankeesgizmogremlin yankeesgermanstein yankeesgeorges1958 yankeesgeorge.014 yankeesgav.maria.aleks yankeesgangstaxny \
yankeesgaby_cita_01 yankeesfroggylover yankeesflyboy1982 yankeesflutlichtjunky yankeesfloydthewa11 \
yankeesfalcon_mustard yankeesfadinha904 yankeesespnprodigy yankeeserrorgirl21 yankeesenjoy_thebestdj \
yankeesenglishman82 yankeeselsuperchulo yankeeseastsiderx4 yankeesdreamsofprelude yankeesdraisres641 \
yankeesdragonfist yankeesdougoldham yankeesdoobieporter yankeesdongobongo yankeesdjohnson18 yankeesdemonclown \
yankeesddtivivian yankeesdaydreamie247 yankeesdarkf3rr3t yankeesdanjackson76 yankeesdamo_trace yankeescuteburningpig \
yankeescumtrolher yankeescool545815 yankeescookieromchik yankeescoakerpepsi1 yankeeschris666-90 yankeeschicago_animal \
yankeescello_arns yankeesceasarrusconi yankeescatalinorzan yankeescaryslippiatt yankeescarlsbeattie \
yankeescaptainpugwash yankeesbrad.peete yankeesboroboro00 yankeesbondageboy yankeesblueice905 yankeesblackdolphin \
yankeesbilloffroad yankeesbigdollarshere yankeesbigdickcoohie yankeesbel_valgas yankeesbachchusingh_95 \
yankeesayka-ofrp3olgavaner8913gruscha yankeesastalceva-vera yankeesapikosalpa yankeesanthonyanthony \
yankeesamaracing032000 yankeesalgis.vysh yankeesalexandardimitri yankeesahnabanana yankeesabuhabeeb12 \
yani811thejennings yangyanggahi98765 yaneotdamtebyanikomy yanayanayanayana4444 yanakamenkova1985 yanadashalive2010zzz \
yana19972919902712345 yamahar46jesuslittlebr yamaha_r1krasavch1k yamaha900645103092 ya_lybly_sashky_ololo \
yalunka_laxman_122 yalulusvya23041995 yalublusvoegopupsa yalovevanyuandreeva yalovemamuandpapu yakovzikshishljunya \
yakovenko1qweasdhvh yaiestquant69818166 yahyaalinabil1964 yahoracomoteolvid yahonsonandgrisha \
yager15839cloyv72fisk276394jklz yagel987852321best@ yafedomaqwer2345zxc yacoubsegraedimon_33 yacorolevna181187 \
yacabhinavshanders yablonde_beauty71 ya1dvi7ga90igo5revna ya1504yasya11yaroslava ya0601ma0701pa1901 \
y9ykjmstdd-k7xqw6grha y9r@z46omnzf!qy-v99x y9b0b.1303$hf.611 y3fk86egsj66kz1mmu8s y2927fzy98fa29w7ee3h \
xzxzxzxzxzxzxxxxxcccc xzfrdiibeuprwtsxly xzdklasjdxzdklasjd xyzabc999415720101a xyskar004644vlas1991 \
xyoxlkcpyszppbyrqz xyiblablablabla1345 xxxxx_zzzzzzxxxxx_zzzzzz xxxxxxxxxxxxxxxxxxxxxxxxxxxxx \
xxxxxxxxxxxxxxxxxxxxxxxxx xxxxxxxxxxxxxxxxxxxxxx xxxxxxspejdersara xxxxdenisxxxx2587 \\\\xxxstarsondemand \
xxxsen11041978senxxx xxx.htmtranslator xxxexbr6wbnoeif0m xxx89246226303xxx xxx12369087455555xxx xxwhitebenderxx123 \
xxtxtmekarlyxx131313 xxtessaeminhasenha xxbhbyffckfyjdfxx xx51093532022333xx xx1j8jpnxrzfxzfic xwvuwkanvnqucuapxzs \
xvmwqqzvudzlwcidvvr xvbfdeg4iblingnmf xutran4a4abrike1410 xuipizdaskovoroda123 xtyybyunfnev24121991 \
xtuehfrjhcr813rhjlc xtrontek-xinside2 xtrfijdcthutq1981 xtrafficworld2606 xtqybxrffyutkz123 xtmf2n23u25dzbf4lqrc \
xtkjdtrbrjirfgkfxenejrjirf xthysitdcrjuj4813 xthysijdfvfitymrf xthyeirf333lhfrjyrf9876 xthtgfyjdltybc122 \
xthtgfyjdfylhtq199 xthrfccrjtgjhtxyjt xthnbr300685ybrbnf xtghfcjdfujkjdfyjdf xsinnochx-gameshark1 xsbhqznusiewhsnsdd \
xristoforchik1980 xrfkjdcrbqhfqjyysqcel620130 xr597359358251gtscv xqbjdfjqaxqznznkmov xpiohgejib18158438 \
xp44vfb4hxp44vfb4h xoxol19911231sssr xoxmandia16071973 xotzefqhevnkiuhdpq xotabich285210719951994 xoqgdgbgdionxrnwr \
xomka307864751544575196255 xobotok@xobotok257$ xo4y4eiibipky4ephyio xnjytgjldkfcnyjvyt xnjckfotvtlfbrnjcbkmyttkmdfb \
xmelnikdeto4kunet xlumtvhoofsdnolaub xlgofbfhtltzjxewyuu xk6jgvrenabbahm9352 xjvc0lfghhccgioiyuyo xjhybqkfrlkzysunsd \
xjhybqgjzcrfhfnt46 xit89034224223fm!!! xingfudfshelbyapeiffer xilnmfiykiiqrhdzy xilefecunha96912692 \
xifokrisis26578453 xidirnebiev170590 xhxfroirf1xhxfroirf1 xhamsterpremiumpass xgoldenapple12345678910 \
xg0tazucgol3xmubwp7kepp8c xfv455uyhfsshrool xfrfhjkjnbafhyjhhbc xflfsodojpqngidvh xfindingbinkers00 \
xfgfxfgf8923116434889231160080 xfbcfbcxb51651534516 xf7xf1xecxe8xf2xfc xeyalelvin123456789 xexexa92-zeheje81 \
xessuxu6ohkyb9tqjy8 xenonlight5zigenapexnoslik xenja1993nik17olaeva xeljndjhtw19071992 xelionadmin19920608 \
xehfrjdfhtubyf1996 xecxf3xf1xf2xe0xf4xe0 xecd5p27m4esh04aps6m8mai xeabzoetitosudliq \\xe9\\xe0&_\\xe9\\xe0&_???? \
xdulsdul123xdulsdul123 xdtyuujhg5678cyhhygfrgh xdrftghjkdrtfgyhuj xdd87562311234567890 xd6ljysiemenpaaht \
xd6d46j5wnem2tsfadvkqfey xd45yu00964serdze xd1e2k3a4d5e6n7c8e9x xcy358delokasyamasya xcabczxabcz2756bbyby \
xc8xf3xf2xf8xfcxf4xeaxe4xf9xf6 xc3xacntrxc3xackulxc3xacmbroqulxc3xac xbox360samsunglcd xbllftsfrtdedayduum \
xbhbrfyjdffajybyf2012 xbdtmlfyytu18200401hlyfcrtkf xbcnj31cfynbvtnth xbckj9vtczw2ujl91 xaxaxaxaxaxaxaxa2 \
xaxanastysha06081998 xavier7373francoi xatuna.chorgolashvili1995 xatiamamacashvili xatialaperishvili \
xasanshina19511951 xaritonowa.nyura1 xant0n25176955155 xanreader-jeowezq3 xan.89503992523-_ xaker1000000xaker1000000 \
xacalacaoumaigood125 xabitov1357997531 xa22jhfcarbfightin x8b01zymn131423loveyou x701if1u362066431 \
x6a3rmdmohotnsexyuk x5service_ex5service_e x5djykaalkkzmvkemxan x52106finend56konvip x4cc3z3xp10t3rzru113z \
x1x2x3x4x5x6x7x8x9 x0ccvku0jz2wo2c5qx x059neonctmaxvolk x023vf199hecvfiyfb6 wyywwyhx7514321ggsgs wynznorz-gbzq6lmw \
wygitatagaiybdbc5 wy3crhxzkutdw38tyn1u wwwwwwwwwwwwwwwwwwwww wwwwwwwwwwwwwwwwww wwwww23081964mika wwwwebsolutionsit \
wwwrhbrdolj1998v12 wwwqqq89109352718555 wwwidelxaydarruyo w.w.w.i1g2o3r4e5z6a7u8 wwwewwaeasdasdasdas \
wwwbarmenwww19962010 wwwbarmenru19962010 www80292374753elena www30042007dochka www1994www1992www www12900961290153 \
wwesa5591906egor57121 wwemacarcat531zwpf7 ww.1991.jeca_garanin wvauri9stpnq2smdgzkk wvandenn-bvandenn \
wuamlssgba9rcby2c6re !wt-!nf0rm@t!c@d!3n$t wtktecnhtvktyysq1991 wtktecnhtvktyyjcnm wtfanyproblem1986 \
w.tanoot123456789 wt1wt2wt3wt4wt5wt6 wsxwhiop1118117107059611qq wsufyrjdfcdtnkfyf wss100923nxsjsiuei939393ggffye \
wsdfghhgybhtrfvhntft wryzmtc27803121982 wrsfdgfhgdfsdddcv wrprintellectual47 wrljiuejzglx4bonmbfn writtenbyjoedante \
writingandthinking writer5spectacledowl wrfgdsfgdghdcfghdfhdfg wreslingrybalkatem wredinanatali1992 \
wre354tema18harkoz wrctmtngeqzzkppzm wrathofthelichking wrathofrevenge1992 wrath_of_heaven61 wr798590jktuybrbnf \
wqy4297cliff4tina wqm49gwqm49gwqm49g wq9oe0xtsknowles984 wpns12skdatoishak6 wowrfcfdsx192837465 wowbpag080991ljnf \
wowandreywowandrey wow89504188969wow worshipslbrown81uk wormwoodprcslilgem worldwrestlingentertaiment \
worldofexpendable worldinv@$ion1511 world151871108111992 workhardorgohome14 workcenterworkcenter \
wordswortslobberhead77 woordenboek1961969 woohooinwonderland woody009woodpecker woody007woodpecker \
woodwimiramar0awbuckman woodhoneypanhead_4 womanchesterunited womanaldrin_ivan19 wolveri7408sakhtar8 \
wolkvasua4815162342 wolkswagentouareg wolfpackcancelled wobqjeeehronqhcpv wnxtcikxtylyn0uw7t wmpfdnshgfrujhwnqg \
wmnreh1c59be170992 wmmilslkkoocfmlwkq wmjvjxrfecstasy717 wmcarlson-bunghole wm_104685-3k4767qu \
wlong123greenbeltmarriott wlfecdave.knowland7 wjrb369258147wjrb wjfkbtxwffuwxtmky wizardxerpizdehyouf \
wizard.123wizard.123 wiwiddodavid_army23 witusja0686452726 wituhanoff@@@*password witnessfortheprosecution \
withyouandonlyyou witalzwitalzwitalz wisniewskipass234 wiskes1212131306150311221 wishmaker-roo24yea01 \
wishmakercabinetry wisdomjusticeandlove1992 wirtschaftsnachrichten wirehead17-astra77 wintersummer177177 \
wintersolsticegoddess winterjasmine2011 winter1gaysexplace winston80985954904 winston666bond007 winniethepooh123123 \
windows.win95.setup windows.win95.moderated windows.setup.win95 windows.programmer.winhelp windows.programmer.win32 \
windows.programmer.vxd windows.programmer.tools.owl windows.programmer.tools.mfc windows.programmer.multimedia \
windows.programmer.misc windows.programmer.graphics windows.programmer.controls windows.nt.software.services \
windows.nt.setup.misc windows.nt.setup.hardware windows.nt.admin.networking windows.nt.admin.misc \
windows.networking.windows windows.networking.ras windows.networking.misc windows.apps.winsock.mail \
windows.apps.utilities.win95 windows.apps.utilities.win3x windows.apps.misc windows.apps.comm windows7fil2712000 \
windovs.07082000. wind120brookswart winamp89232911302 willyam1990willy0 willy123s_shroff2005 willow1soebadeb1760201 \
willie1(2003-12-18 willianbomempipa10 williamzhithorosho williamyungniggagod williamyourherohbk69 \
williamyenal.gogebakan williamxxsweetshugarxx williamx1ofakindx82 williamworshipfeet williamwarnierfrederic \
williamwantmetoeatu williamwanchez6028 williamwacky-dude williamvitea.kireev williamvickt.a2011 williamvasiko-davidof \
williamvashmykola williamvalkiriya-ak williamvaidyaabhijits williamunixinbharat williamuniondrummer793 \
williamujykioprtyt7 williamtruongphihai25251325 williamtriggatrey williamtrenitataylor williamtoppertje90 \
williamtoontrader williamtoomuchfunnow williamtokchinakov williamtitanomachia williamtinaandbundy williamtijmentulp \
williamtijerinocole williamthunderboy williamthouphepruthi80 williamthewatcher williamtheonedsgb \
williamthenotoriousdtb3 williamthe_eldrich williamthechiefsv williamthe_angel6969 williamtexanmckin \
williamtechnicalspring williamtaurus4parties williamtakasiwa_bestfriend williamswarup89patra williamsuperman0331 \
williamsuper_magovskoe williamstylescrybe williamstabmyforehead williamspecialm102005 williamspawn_onet \
williamspacefuturist williamsosincereat williamsobacafubly williamsnegovik_kontra williamsnakyboats williamsmsaccess3 \
williamsmith.manthamith williamskblover24 williamsirrichard williamsimon2016086.by williamshort.guy.with.blonde.hair \
williamshaunfreeman williamsharpwalker williamshane01623 williamsexyboy190 williamsexlover69 williamseva100368 \
williamserjchisinau williamsergioseysk williamscottishlad46 williamscotta2700 williamschnckrbrdr \
williamsanta2000claus williamsabre_indigo williams8xr6ufihj williamryanid1977 williamrozzmarin777 \
williamroundthirteen williamronaldmcdonald williamrobertwillia williamrobertterbetski williamroad-warrior \
williamrmishnev_feokv1982p williamrichinmaine williamrichardfrance28 williamrichardcranium williamraphaeljohnlall \
williamrandyperez1010 williamrana.ahsan643 williamr%3fbi%5ffredy williamqsh075n1xk williampussytaster \
williampunishme31 williampuckchuckking williamprintzwilli williamprettymenj12 williampondhopperjen \
williamplaystation12 williamplayercard williampitch-black williampilotujucisumy william_pemberton williampearcewr81 \
williampaulambuteri williampapouilles777 williamozcanyilmazcelebi williamonmi_smile williamoliga_solonina \
williamoktawianek williamojosverdes williamnorfarahedayu williamnils%5flennart. williamnicola46enko \
williamnicelawson112 williamneptunesss williamneilnbsmith williamnatali-dad williammsmorgan01 williammr.slava.01 \
williammorningsstar11 williammojito_mivll williammodem-1992 williammmi_sergey williammkgreenday1977 williammisterhyde \
williammisha___2000 williammircea_navin williammichel.fredette williammerrychristmas williammedoman3000 \
williammcdonald38 williammbkmzslcwg williammasterfire williammartinsalsa williammarcobello williammarco00032 \
williammalinkova.karina williammagicsofta williammadmax1977 williammacdaddy99 williammacc-anton99_1990 \
williamlwheat1999 williamluvsuckindic williamluke03188baseballluva18 williamlukas.abel williamlongtimeguy \
williamlongjon123 williamlloydy27888 williamlilsexyangel williamleugim_max william.lergesner williamlafontaine.n \
williamkss.yastreb williamkiss_me_baby- williamkisa0510ivan williamking-sagitario williamkiacar1971 \
williamkeith.millar williamkarlll1980 williamkacsorbela williamjuanitito_2 williamjosirofique williamjonnolan2005 \
williamjistlooking williamjhonata131 williamjest666999 williamjersonoriega williamjdillingham01 williamjamaika_rulet \
williamivan161277 williamiscremluvr williamironriderscott williamiranshumini williamincidentally \
williamimyoursunnyday williamimyourmuze williamilcuoreincampi williamicecold232 williamibneeva1965 \
williamiamkumararun williamhotshot69er williamhookmegood williamholidayman williamholdyourfire williamheyuanzhai \
williamherr.der.winde williamharley2854 williamhard2please williamhappydeath69 williamgreystokes williamgregvanman \
williamgreggy_3eehr williamgolfsbobet24 williamgodofextreme16 williamgodbilla818 williamglennsworld \
williamgev.sayadyan williamgeorge_6jyye williamgenious_195 williamgeilersolinger williamgbemishoda \
williamfunkstakatie williamfrndswidbenefits williamfor_your_letters williamforestgump williamfistingfanatic \
williamferdi_bjk_123 williamfelipesantiago.santiago74 williamfatpiggy-1983 williamfasttrack50 williamfartripper \
williamextraterry williamegorova527 williameduardo.b.cps williamedguitar_1991 williamdurbera68486 williamdsfagagagga \
williamdr_squirting williamdrdre672001 williamdownrigger1901 williamdoriangray williamdomperignon \
williamdominicanshorti17 williamdmitriy.mich williamdirtyboy23 williamdirkdroemer williamdilligafziggys \
williamdiablo_09_10 williamdheeru_yours williamden-razinkov williamdemetev.andrei williamdanslover001 \
williamdancelorendancee williamcutelarki88 williamcpjvanleijen williamcockzilla79 williamclazsic.boredum \
williamclarec0711081 williamcherbin.pavel williamcharles64355 williamchaos4life williamchadkinkle williamcarmine303 \
williamcarlitustitus williamcaptdon1992 williamburugupalli williambuilttolast williambrunobehenck91 \
williambrottorungart williambrissonneau williambrianfaders williambootlover101 williambobbytomorow williambncindy123 \
williamblack_zero williambitemyspellz williambillwilla88 williambigspender williambignhard888 williambigman2340 \
williambash_yaz1.ishm williambaohen1510 williamballsfight williambaladinskiy williambad_xxx_01 williamaustinpowers \
williamaudinethierry williamanone.hubbard williamanna.goncharenko williamanna-elhan williamandcreolanixo \
williamamir001002 williamalc60053779 williamagustinagustin williamadilgadzhimuradov1 williamaaron_14dec \
williamaaa-qweasd williama9ob7z_9ur7ieg3 william67dh5bghu2jky wildpersonkvitka07111992 wildoneskeepsbanningme \
wildncrazy_119_99_99 \\\\wildlatinagirls wildirishheart00000 wildbob2008xtreme wikiplusramzesravnolubov \
wika91202580vetal wigjosefer891187225 wiggin66-652redne wiekrass-wiekrass wickmb2mru5yc2gb7ne wickedlygoodbooks \
wicca_cosmos_guardian whyuhacksoldierfrontaccaunts whyno123icandoit123 whydontrangersnub753 \
whothehellareyou3nastya888 whosyourdaddywandos1995107 whorenesslikabossaless whoowns366myheart wholetthedogsout1 \
whoknohowlongiloveyou whoareyorafalstuartwalthal who0oam1-iamaguy2 whizeliaelisatraverso whitsalomeazngoddess4eva85 \
whiteravenfeather2005 whitefuckingsigma whitedoveandrunninbear whitecoyesimrich29 whitecastillejos2000 \
whitecapcancelled whitecannabis26964 white89236860071niger whipmaker1-zenwhips whiplasherbernadotte \
whiekamariaholthe_subway_on whichoneisabrethart whhqnwlyalirefmul wherestrangers_meet whenyoulookmeintheeyes \
whenhigotothehome whatthefuckisthisshit whatthebrown123bambang456 whatifgodwasoneofus1 whatevestorm_storm \
whateverzxnmd1700000 whateverznoussssss whateveryustectonik whateveryouping_b whateveryoungaustin \
whateverykzevvvf7tk6jtj whateveryhobyrosycum whateverybetetasudyqu9 whateverxwrasslerx whateverwowizugecagijyc \
whateverwoodfin88 whateverwinterxxxx whateverwinnie123 whateverwilyam1501 whateverwild020396 whateverwife-shef \
whateverwhitewolf17 whateverwastert-prod whateverwaheedishrat whatevervova_kond whatevervladimir_cherkasov \
whatevervlad4210236 whatevervilli1508 whatevervespetine whatevervangoethem.d whatevervalboldrini whatevervabeachbum \
whateverutursunov whateverusernotloggedin whateverurxednay2 whateverurtrturtjjfjfj whateverulysses59 \
whateveruhepbyxkty whateveruga1981nc whatevertsup.uprdor.cht whatevertracerszt whatevertokoloshe1 \
whatevertimothy06831 whateverthunderphucked whateverthug12369 whateverthomjelle11 whateverthewebstar1 \
whateverthesiscokidd whateverthedude420 whateverthedude1122 whateverthecleric whatevertexasdogg whateverterry.longo \
whatevertempting39 whatevertaturtle35 whatevertaratarataratara whatevertaralex777 whatevertalltexan \
whatevertalfyorova whateversweetsournoo whateverswanseaduo whateversunstrike54321 whateversumalbag_j79 \
whateversuku_8217 whateverstudebaker whateverstraightstreppin whateverstmichael whateverstiffler2001ca \
whateversteph.gill whateverstefanobay whateverst34ef_afby0t whateversss1983sss1 whateversrfcali101 whateversnowman69 \
whateversnmccleary whateversmokedope whateverskyescraper whateverskippy7962 whateversje755512 whateversimonbs87 \
whateversilenceheadshot whatevershyonyu96 whatevershyam1982 whateversh_omid786 whatevershodow651673 \
whatevershane_dork whatevershahidul.mannan whatevershafa_ilkin whatevershadow601 whateversh4d0wb01 whateversexytimmy \
whateversexappeal1293 whateverseskandari whateverservicesjoined whateverscotty_richer whateversccoco2000 \
whateversaxarok.2010 whateversasha-gor60 whateversamuelabg whateversamroberts whateversamibahta whateversallyduncombe \
whateversakerhany whateversaiya_jin whatevers748337519 whatevers0dathief whateverrupidfunfcsm whateverrumbleguts \
whateverrollingsj whateverrollendflint whateverrobertalbrecht29 whateverrobbydaddy whateverritasuka1 \
whateverrickie1967 whateverrhyno6981 whateverrenan/bueno whateverredckinaelizaveta whateverrayyyru315 \
whateverrassilochka whateverranwoo1234 whateverramonduran whateverrafaello_1976 whateverqwerty852z \
whateverpurplehazen whateverpugliabaila whateverprostitutes whateverprettycdaniinpurple whateverporcupiner \
whateverporcupine whateverpookie597 whateverpoll-poll whateverpogisijoms whateverpluton-2000 whateverpishidetke \
whateverpirateskaya whateverpikkantissimo whateverpiggybank whateverphillyphunguy whateverpeteyumyum \
whateverpeterpertersen whateverpeterfinch whateverpedropvp2009 whateverpasadenacama whateverpapito106 \
whateverpanternator whateverpandrwill whateverpaduraru4life whateverpaasche90 whateverotherfiles whateverokidoki999 \
whateverohiobfgal whatevernyclatino whatevernoixdekiwi whatevernmetelkina81 whatevernlk181178 whatevernickxacker \
whatevernickvexel whatevernicki.1999 whatevernewguy1234 whatevernevermind whatevernestledog whatevernastpuaasturn \
whatevernarine_siradegya whatevermystic_ut whatevermynameisgeff whatevermymail.my whatevermurzik_151 \
whatevermujerdefuego1 whatevermuchfun62 whatevermsaljawie whatevermrslowpwr whatevermr.reyimow whatevermrcumsalot \
whatevermrbigtyme whatevermortiviventi whatevermohit_hfcs whatevermix852147 whatevermilan_barselona \
whatevermikepowers whatevermikebooth whatevermihail_fukson whatevermichi_2007 whatevermiamifreak whatevermexman654 \
whatevermeu_mundinho100 whatevermetallica whatevermesutakuzum whatevermelanie_wilkes whatevermccommons \
whatevermaya_9104 whatevermaxwelldl whatevermarinica_95 whatevermarcos_marinho_ whatevermarco_hr34 \
whatevermanya.orehova whatevermannen487 whatevermanaxfantom whatevermadtaco003 whatevermacdeibel whatevermaaaakssss \
whateverlustyhusty whateverlust_post whateverlupusoriginal whateverlunchtimer whateverluca.zanesi whateverlongknife \
whateverlollypop14 whateverlolahokimo whateverlnsoule36 whateverlittleraddoc whateverlittleone69 whateverlinguist.lv \
whateverlilly122198 whateverlena02071961 whateverlegits_x_sniper whateverleerhodes whateverlatexxxlvr \
whateverlaracroft whateverladieshello whateverlacoste367 whateverl3onh3art whateverky7415963 whateverkuntalbiswas99 \
whateverkulik.inna whateverkrasi_div whateverkrae_zee1 whateverkoltu-elena whateverkokorokon \
whateverkiratsaritsyna1988 whateverking_amer001 whateverkhusbands05 whateverkeuhldude whateverkayjaybee \
whateverk413ar68rus whateverk1nkyk_69 whateverjustmeagain whateverjustforangel whateverjuniorairplanes \
whateverjumpdrive1 whateverjuiceman14 whateverjskelington69 whateverjozal_a_2000 whateverjonhitter01 \
whateverjohn69baby whateverjoeyseitz whateverjoevaccarelli whateverj-man199724 whateverjjsweeney2000 \
whateverjinzhou888 whateverjcpstock11 whateverjcliver_42 whateverjayhollon whateverjason192010 whateverjansennad \
whateverjag_s_sandhu whateverjack_namce whateverj1mmyhutch whateveri-tarakanov whateverironmanjev whateverirkka2010 \
whateverinvictus13 whateverinochka_kisa whateveri85pqowoyd whateverhxrgchzmpf whateverhunter10547 whateverhunghorny \
whateverhrnyman22 whateverhottie_jtdam whateverhotchick990051 whateverhornykees whateverhornyguy42 whateverhomerj999 \
whateverholygirl134 whateverhenryspank whateverheiko1983 whateverhapy20tstr whateverhappytazmania \
whateverhanskristian whateverhalalmangosteen whateverguru2009-81 whatevergurami1972 whateverguitarman6666 \
whateverguess_who019 whatevergudlyubov whatevergreekgod98 whatevergreatworkedward whatevergrandeglande \
whatevergraeme.young whatevergpsyginger whatevergolfer123 whatevergoldenwonton whatevergoldenjan \
whatevergindelbergerb whatevergentleman__10 whatevergaliya1967 whateverfunwithme69 whateverftpfullnet \
whateverfrenchy35_ whateverfoxtrotup whateverflora_602 whateverfloobster whateverflipperpj whateverfight4lif3 \
whateverferrishelms whateverfelipines whateverfelipeikawa whateverfanofbill whateverfacundo_1984 whateverex_angel_a \
whateverespermato whateverenemagi07 whateveremersonbiguns whateverelen_1957 whatevereedo583525 whateverdustin.boss \
whateverduaneherndon140 whateverdorian.-el-maravilloso whateverdonjohn79463 whateverdjukareva whateverdjrobbie44 \
whateverdirtymind whateverdimmon_007 whateverdimecchuvak whateverdestroyer144 whateverdeathenator whateverdavid1000 \
whateverdadosabri whatevercutericpl whatevercuhedmeshs whateverctcabeman whatevercrystal817817 whatevercrossroad \
whatevercretelmpa whatevercool.ozero whateverckrhosting whateverchucke415 whateverchesaspeakebayr whatevercharlieboy \
whatevercerealbits whatevercelestino whatevercedars_india whatevercdl196sep whatevercatalin94d whatevercasinolady \
whatevercaptainass whateverbuggaboo2352 whateverbubbalotski whateverbubba2021 whateverbosunnibe whateverborispunk \
whateverborisecheverriabarrera whateverbootlover whateverboneman-venus6 whateverbodazone777 whateverboby00_pqbf1 \
whateverbob1111777 whateverbluewater whateverblokesmith whateverbirthday85 whateverbiloxibudman whateverbigshadow \
whateverbigmacman whateverbenightedness whateverbenegro24 whateverbelgarath whateverbeanbreaker whateverbathboy69 \
whateverbapehu4ek whateverbajul_ireng whateverbadshah123 whateverbabisinharuiz whateverazmadmax99 \
whateveravetisjannaira whateveraspradlin whateveraseret1000 whateverarobazoyan whateverarmy_james \
whateveraqohcbozslia whateveranthonyb10 whateverandrius78.3 whateverandrea.avellino whateveralsyedusman \
whateveralogofwood whateveralina.cachina whateveralifatih1981 whateveralexxation whateveralex_good whateveralbizzness \
whateveralabbasoff whateveraisleofcox whateverainslie.mclennan whateveradamastorpitaco whateverabsurdo77 \
whateverabdulaziz.ahmadjonov.1977 whatevera1b2c3d4e5 whatareyoulookingat whatarewefightingfor wha-cewu-fy-whi-lum \
wgobleenknaveteurs wgkukvqiuivpcgmggg wg1hlapohtgbcduogvlfyl wfobxxgcabrs81496 wfgegsdgdgsdgsdgsd wezzcyphlpubjtvja \
wexqjeshvsrimlfuzt wetter25-sommer59 weter775312463401624 wetcleaningwipes123 westhimer1nikodoc westham8rotherham \
wespideywabashith9 weslleyvidaloka123 wesleypereiradesouza1996 werty145bery123456789 wertwertwertwertwertwertwe \
wertadidas21081992 werner89091337522 werjarheshort_lexy_1 werhnbkliopfdsrftgwerhnbkliopfdsrftg werewolfakagin1986 \
werbisek73santafe wer5455465e456tev wenzhi_on79024766411 wennggsjusttrustme wenkaralsportersballceo \
wellingtondeoliveira welcomezonedmedia welcomezhan_bekzatovna welcomezaitsev168 welcomezachary1231 \
welcomeyusranaldila welcomeylistaasvauhis welcomexxcrmasterxx welcomexsw3etlov3x welcomexsexyxeyezx \
welcomewriterdude19 welcomewilly.knerr welcomewilliamandtina welcomewhitesail2005 welcomewhiteguy2007 \
welcomeweeds4lyf_21 welcomewalter.knoepfli welcomew4yhxvc99h welcomevelvet_sea welcomeusers_1974 welcomeuserpass369 \
welcomeunaibekov.eldar welcometrannyjackie welcometothejungle welcometoroseduto welcometomychemical welcometiptoe3435 \
welcomethrillseakers welcomethepoet316 welcomethebeguiled welcometgnthtytdfyfc welcometempted187 welcometeenboy770 \
welcometed.miller2411 welcometechymainah welcometaylorvanderzwet welcometasosastoria welcometales_pirate13 \
welcomeswedishguy29 welcomesvk.minval2010 welcomesu-su-su-su welcomesuperflyer welcomesupachai.m welcomesunjjang00 \
welcomesundmanofraid welcomesummerlady_17 welcomesummerhive97 welcomestonewall012000 welcomestenocardia \
welcomestarchaser2003 welcomespunchbob1 welcomesportyboy333 welcomespambadger welcomesomeguy234 welcomesolleyventura \
welcomesolara7474 welcomesokrplaya21 welcomeslayermatter welcomesilentscreamer000 welcomeshahza_vd4t5 \
welcomeshadow.hans.w welcomeshadlatif21 welcomesexnedded69 welcomeserega.37best welcomesemsem_el3shry \
welcomeseekinga10lapdance welcomeschugr1981 welcomeschadenfreudered welcomesandro_258 welcomesailmaker1 \
welcomesafiro23csm welcomeryazanowa.zhenya welcomeronnie_666_pk welcomer.oiystrah welcomerogerstaylor.phb \
welcomerobertblock welcomerichmondfamilia welcomeribentrop2000 welcomered.boy1987 welcomeramiskuramshin \
welcomerailway__198888 welcomeqwe200879_79 welcomequintessnt1234 welcomepunjabirner welcomeprratnakar \
welcomeprogressions welcomepolacocwb1977 welcomeplayersk8terdon welcomepizzasergei welcomepirvitalij \
welcomepikkenlikken welcomepigeon_boy welcomepeter-knecht welcomepergedsoul welcomepehmostara.. welcomepaulholland \
welcomepaulgerard welcomeparaciklar12 welcomepapichulo702009 welcomeoxfordenglish welcomeorangina98 welcomeonlyme8549 \
welcomeonlyforhuny welcomenomeinteresa1 welcomenombresexylou welcomenkfouipg9l welcomenjarachoo7 welcomeniranjan_raj \
welcomenikonkova.ea welcomenightscool welcomenicenightforit welcomenewschannel welcomeneva_m_lisss welcomeneurus2000 \
welcomeneron08_chic welcomeneed2killemall4fun welcomenaughty0fficer welcomemythiclegend welcomemysteryman27 \
welcomemusicman125 welcomemuscleman3 welcomemurad-shamsudinov welcomemontemonte welcomemerriweather \
welcomeme_n_my_blades welcomemedicina11 welcomemarufmarufmm welcomemakaveli074 welcomemadison_ss \
welcomelovesbunniesanddogs welcomeloveasians welcomelookin_xset0 welcomelolisweethome welcomelokotaevag \
welcomelil_josh_13 welcomeliliaherdt welcomeli.gustmann welcomelightnindebleu welcomelickutoes69 welcomelickintwat \
welcomelexisexy20 welcomeletmein555 welcomelesfinster welcomeleo.nardus welcomelawsoncook welcomelatexluv78 \
welcomekrypton-93 welcomekristianxz welcomekrehovalarisa welcomekiyiqelwod1974 welcomekirina.danish welcomeking-sound \
welcomekasabian88 welcomekallelmazen welcomekajakosedes welcomejustforfun welcomejustangel1 welcomejoy_haruka \
welcomejoy20261fred welcomejora.bocman welcomejollymon18 welcomejohn_tibbles1 welcomejohnmcgregor81 \
welcomejoeydechezaray welcomejoesmoe12070 welcomejoe_chelsea welcomejlcarrascobrito welcomejesschong903 \
welcomejerseyboyred welcomejersegn_cid welcomejansaule_93 welcomejamikhan007 welcomejamie12345 welcomejamesjburroughs \
welcomejackarfcher welcomejablomiehaywood welcomeinternazionale13 welcomeintensefootfetish welcomeinna.innusya \
welcomeincredibleone welcomeimraninferno welcomeim2hot4u2181 welcomeiluvsummer welcomeilovejoe2690 welcomehutchstuff \
welcomehuihuihui_h welcomehugebooter welcomehova_footz welcomehotboy_vpgs5 welcomehoadainhan2 welcomehifrihamid \
welcomehellion138 welcomehelenandal welcomeharrysmith welcomehangoverblack welcomegyu2797ymm welcomegundam_sheed \
welcomeguesswhoisbatman welcomegringosito welcomegracias6666 welcomegovicharis welcomegotbiglaw8 \
welcomegoloveshkin1988 welcomegoldfrapp01 welcomegianipod19 welcomegeorgie.powells welcomegentlemen3 \
welcomegeetkapoor welcomegatesvita6 welcomefunkygeeta welcomeformula350 welcomeflussyterem welcomeflexy.mama \
welcomefireonboard_06 welcomefghgh.gfhg welcomefemmefatale welcomefeelungulurry welcomefallennangel welcomefalcon3600 \
welcomeetienne176 welcomeeternity07 welcomeelquehacequeelcorazonyore_21 welcomeelhombrejoe welcomeekb-mou147 \
welcomeeduard_7zuxn welcomeederbarcos welcomee96c4be46d2be184a9d8 welcomedoriangrey861 welcomediego-rifle \
welcomedeamon_2008 welcomedavid25_sl welcomedatdudejay welcomedarkprelate welcomedanahsutton welcomecudelta134 \
welcomecoutroubis welcomecordobamonster welcomecookie3768 welcomecometu_zrkhp welcomecoboldelphi \
welcomechocolatecatch welcomechicagobluesman welcomecensored_pwnz welcomecchris9669 welcomecarsmo_2020 \
welcomecardonas51 welcomebustthatcracker welcomebronxnyy1023 welcomebrandon_storm welcomebradleycrymes \
welcomebobooo_vbvmo welcomebluepacific welcomebixby2lover welcomebiruzzovaya welcomebigswoll71 welcomebeanerjooe \
welcomebcolewdswkbklbt welcomebazanov.evgen welcomebaseballa0957 welcomebartjuhh_maren welcomebalu.bandela \
welcomebabehunter90 welcomeavatar2007 welcomeatk69pgirl welcomeasilentflute welcomeartibhardwajs welcomearedragonfly \
welcomeaptecclexa welcomeanurak_seeta welcomean.oosterlinck welcomeandycygnus welcomealwayshard welcomealex__best \
welcomeakinalychio welcomeajtrancedev80 welcomeadhi_keyen welcomeaaa777-177 welcome20-wekcome20 welcome1234554321 \
weihnachtsbaumna711509 weigwerig98138681 weeskela88184555060 weedisexcellent69 weddingtargetreply \
webstefanovipagencys websolutionspasswd websolutionsdotit websolutionsadastra websolutions070673 webmaster-webmaster \
webmasterstockclub webmaster.bye.bye.bye weberdparanormalsociety web_banners_origin web789solutions123 \
wearethechampions wearestonedimmaculat wearej31s04j19friends weaaqino0lhlhwsifl9tqg30zri-~b \
&&wdxwabusc7&b*qdex_6b*5v?e8v wdtnjrwdtnjrhfcntybt wdtnjr6767839fyutkf wdoxx8xdlrxateeccszdmxtec wdmvuybyzvomlobpa \
wdison112700raito0 wdb46324117113882 wdb2100531a196183 wbqh6ypcmohapatra wbnfltkmpkfxtndthj4444 wbghjakjrcfwby500vu \
waykereduvolabwayke waxxphillyzbabiexx waxmuseubengarcia waxflowlbrigatti200 waterresistayandanilov waterfalleewashin \
watchyougotgorddownie1973 watalextmoemoe151 wasteofthyme-rootbeer wast20077acab1488 wassupdeni210292_221 \
wasdwasdwasdwasdwasdwasd waruto89269220666 warriorprincesschris warrior11svetlana warhammersa1nt86ru \
warerwarer123456789 wardgward-nirvana8 war3shamimrbri194 wanywillsaygoodbye wantagovernmentjo wanielton474467123 \
wanessaandressathaiza wandretotlalala007 walterjosephkovacs walterberthashire walnut9193hollydrew walnuqueijobeijinho \
wally1767-wally1768 wallflower-springsteen walled2660511luxor walkerwalkerwalker walkerelizabethanne \
waleriy14072005anna walerifilat281192 wal1greenstsetia_marya waiwai77-3mooxeni waitingone1012198822 \
wahroongasadndwarrin wadim14gerfanov1996 w8cxcu1xc8xz1o6atveck w6kmnjroiz-8i2ymy1y4e w6jdb.13298$5f7.4550 \
w5z9d.19377$sy3.17378 w56jk90cdf265m1287 w3bs0lut10nsp4ssw0rd w3bf3d3comicbookdb w24ferefafrsddfdsfds \
w2330maritanna2324 w1hqgp2bglzzull03hmc w11l222a33d4444321 vzlomalpidoromstal vzk27012345685234 vzdfrfhfwtkm19925 \
vyvyvyv.yvyvvyvyvyv.yvyv vyv.yvpypvyv.yvpyp vytyhfdbnczkjyljy vytyfdctyfchfnm666 vytyfchfnmyfn.vtym vytdctulf18ghfdlf \
vysoamarina120790 vyp.vaprvarvyp.vaprvar vygodner322332322332222450 vyaipvfyapvyaipvfyap *vyacheslav*1989* \
vyache82jqwertyuiop15236 vya1213095777slava vx09mzzsalil_young vwehfkvlfubvytcububr vwagscrupseagrave \
vvyacheslavershovv909 vvyacheslavershovv vvwwwleningradru911 vvvvvvvvvvvvvvvvvv vvvvvvvvvvvvvvvffffffffff \
vvvvvvshaine_cute1523 vvoroshilovevvoroshilove vveettaa2233022008 vvalierchikvvalierchik vvaallyyaa05091988 \
vusalepirmemmedova vuonghuyen123456789 vulovenhi01202344416 vudoannguyenthao2911 vtyzybrnjytdpkjvftn \
vtyzpjdenghjl.cth223 vtyzpjdengfgfrfhkj vtynbfknnjfkdhmcffgt vtyjdobrjdf.kbzjktujdyf vtycjyvtycjy92cfnb \
vtxnfltdeirb728513 vtuo6bd48b7mr48gd59r vtuffylhjkjubz2020 vtuffyfvfkbcnbxtcrbqo vtufcrhbgn21041997 vtt^17ghkk91y62fa \
vtntkrbyf19710418 vtldtltdgjkyjtufdyj vtlbwbyf192837654 vtksylf8833684rdfr vtkmybrvtkmybr5506 vtkmybrheckfygtnhjdbx \
vtkjvtkjgjdctqptvkt vthsimbal1905198888915091 vthctltc19071964j vt5849ak1987roman vsktorvityasmeuyn vsinyutin15111990 \
vsiachina_inoevsiachina_inoe vsevolod1234sokolik vsevokryggovno17071991 vsehmydo%3apassword vsegolishbog080889 \
vsebudethoro6o1819 vscrjhjdcnhtnbvcz vsckbcrjhjcnm0481 vschwartz760furgie200 vsbudutsyavvsbudutsyav \
vs716d51t6i4inhugj1mm64q55 vrt65ukl34zxaspo23 vrhpvyvaimnytwgkwhy vqrljsgcaepcpuwwca vpvpvpvpvpvpvpvpvpvp \
vpta.evavvpta.evav vpp_sabinavpp_sabin vpolshageotbezumia vpn.internet.teslacoil voyaconseguirtrabajo \
vovqaz051394vovqaz. vovanchikovckoe19555 vovan89375225413ok vovan27101976alexsandr vovadoma9039980844 \
vova58anna86alena11 vova21031988zaytsev votpridurkiiditenah192 vostochnaya7663979 vorotynezviktorija \
voronin11111voronin voron0999447787voron voron076_078edinorog vor197520011955vor voqeyro842-woony22 \
voorpraagmaarwordtdope vondutcemonaheem_gangsta78 volvwilsosheortigues voltolinischwambach volsutaranovslava1991 \
volosataya.pipiska volodya207-kitty99 volodimirscorpio1963 volodimir.makar.901990 volleyball_player_67 \
volkovvolkovvolkov02 volkovairinaleonidov volikvolik1011121314 volfram1905198888915091 voleibol144lllzxcv \
voitinskie06101985b voitehovskaya.irina vohoangbaongoc532011 vodoleylion19982002 vodnsvakostecka1968 \
vo937999229997391996 vnv89297134920vnvz vnn_7_5_3_7_7_1_9_vnn vnksvrmrbmahaiasvnk vmectenavcegda2010 \
vlodzuvlodzuvlodzu vlasenkoserhiy1958 vladvlad777vladvlad vladuskagarbuz1999 vladsuperstas130895 \
vladosmatrosvladosmatros vlad_ohotnickvlad_ohotnick vladnetolstiynesvinh vladludavmeste_na_veki \
vladlena101010vladlena101010 vladkashakaladka123 vladislavsergeevich vladislavorlov06031985 vladislavbiluk06101996 \
vladislav256652vot vladimirxbobx123456xbobx vladimirshmalko2013 vladimirpichugov1995 vladimirovna281991 \
vladimirovich210190munkuevigor vladimirkindra311091 vladikvladikvladikvladik vladikfavouriteboy vladik230890vladik \
vladik2002kotovv2k vladik100210021995 vladgreyd19961970vg vladefremvladefrem123 vladavlada123456789 \
vlad280893vlad280893 vlad1super2mega3shel vlad199113vlad266713 vlad123456789123456789 vla2000dale2009sha \
vkusnjawkabrokolice vk_password__edison vkontaktevalejnaaa vkontakte_trofimov vkontakte0987654321 vkonbotzarabotaigol \
vkkkkk.dlornvkkkkk.dlorn vkgh7ru0j9le5j8x7g2tegua vkantakte2010pasha vk14hdr663jyd264ovd vjzyfcnjzofzafvbkbz \
vjzvtxnfjybnjkmrjjy vjzvtxnfdctulfcjvyjq vjzvfzkexifz19041988vfcfvf vjzvfvfcfvfzkexifz19041988 vjzljxfcjabz14032008 \
vjzljxehrfdthjybrf3 vjzghtrhfcyfznjkcneirf vjzghfdbkmyfzafvbkbz1234 vjy74269850cnh1993qwe vjtujrjnbrfpdfkbevrf11 \
vjtcxfcnmtytdfitltkj vjtcthlwtjnlfyjnjkmrjntt vjqyjvth89062759514 vjqgfhjkmhtaktrc09 vjqgfhjkm89066677746 \
vjqfyutkjxtr160878 vjqcsyxelj12011208 vjq1236578gfhjkm1922 vjlyfz14jxrhfcjnrf vjlbabrfwbzfunny304 vjjkjhgagvjjkjhgag \
password123456 password1234567 password12345678 password1234567890 password! password1! password123! p@ssword \
p@ssw0rd p@ssw0rd1 mypassword1 mypassword123 mypassword1234 mysecretpassword mysupersecretpassword thisismypassword1 \
thisisnotapassword thepasswordispassword passwordispassword newpassword123 changepassword changeme123 changemeplease \
pleasechangeme changethispassword defaultpassword temporarypassword temppassword123 testpassword testpassword123 \
testpassword1234 strongpassword strongpassword123 securepassword securepassword123 supersecret supersecretpassword \
secretpassword123 topsecretpassword nopasswordhere forgotpassword forgotmypassword iforgotmypassword \
iforgotthepassword idontknowmypassword rememberthispassword rootpassword adminpassword adminpassword123 \
administrator1 administrator123 administrator1234 admin123 admin1234 admin12345 admin123456 adminadmin1 superadmin \
superadmin123 sysadmin rootroot1 guest123 welcome1234 welcome12345 welcometotheclub welcomehome123 letmein1234 \
letmeinplease opensesame123 login123 helloworld1 helloworld123 helloworld12345 hellohello1 ilovemychildren \
ilovejesuschrist ilovechocolate iwillalwaysloveyou jesusismylord jesuschrist1 inthenameofjesus godisgoodallthetime \
qwerty12! qwerty123! qwertypassword qwertyqwerty1 abcd1234! abc123456789! a1b2c3d4e5f6g7 a1b2c3d4e5f6g7h8 \
1a2b3c4d5e6f7g 1a2b3c4d5e6f7g8h 0123456789abcdef sunshine123 manchestercity realmadrid123 fcbarcelona123 summer2023 \
summer2024 summer2025 winter2023 winter2024 winter2025 correcthorsebatterystaple thequickbrownfox \
thequickbrownfoxjumps thequickbrownfoxjumpsoverthelazydog tobeornottobethatisthequestion maytheforcebewithyou \
supercalifragilisticexpialidocious onceuponatime twinkletwinklelittlestar youllneverwalkalone youneverwalkalone \
neverwalkalone nevergonnagiveyouup `;
