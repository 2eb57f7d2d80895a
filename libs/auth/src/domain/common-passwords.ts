/**
 * Passwords that are guessed first, in lower case. Compiled for this library from general knowledge, not copied from a list.
 * It has those that no rule of `predictabilityProblem` finds: repetitions and runs of keys are not in it. An application
 * that wants a longer list, or one of breached passwords, writes `passwordPolicy.check`.
 */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `
  password password1 password12 password123 password1234 password12345 password123456 password1234567 password12345678
  password123456789 password1234567890 password! password1! password123! p@ssword p@ssw0rd p@ssw0rd1 passw0rd passw0rd1
  pa55word mypassword mypassword1 mypassword123 mypassword1234 mysecretpassword mysupersecretpassword thisismypassword
  thisismypassword1 thisisapassword thisisnotapassword thepasswordispassword passwordispassword newpassword
  newpassword1 newpassword123 changepassword changeme changeme1 changeme123 changemeplease pleasechangeme changethispassword
  defaultpassword temporarypassword temppassword temppassword123 testpassword testpassword123 testpassword1234
  strongpassword strongpassword123 securepassword securepassword123 supersecret supersecretpassword secretpassword
  secretpassword123 topsecretpassword nopassword nopasswordhere forgotpassword forgotmypassword iforgotmypassword
  iforgotthepassword idontknowmypassword rememberthispassword rootpassword adminpassword adminpassword123
  administrator administrator1 administrator123 administrator1234 admin admin1 admin12 admin123 admin1234 admin12345
  admin123456 adminadmin1 superadmin superadmin123 sysadmin rootroot1 toor guest guest123 user user123 username default
  welcome welcome1 welcome12 welcome123 welcome1234 welcome12345 welcometotheclub welcomehome123 letmein letmein1
  letmein123 letmein1234 letmeinplease letmeinnow openthedoor opensesame opensesame123 secret secret1 secret123 access
  master master123 login login123 hello hello1 hello123 helloworld helloworld1 helloworld123 helloworld12345 hellohello1
  iloveyou iloveyou1 iloveyou2 iloveyou123 iloveyou1234 iloveyouforever iloveyousomuch iloveyouverymuch iloveyoubaby
  ilovemyfamily ilovemymother ilovemychildren ilovejesuschrist ilovechocolate ilovefootball iwillalwaysloveyou
  jesuslovesme jesusismylord jesuschrist jesuschrist1 inthenameofjesus ingodwetrust godisgoodallthetime
  qwerty1 qwerty12! qwerty123! qwertypassword qwertyqwerty1 abc123 abcd1234! abc123456789! a1b2c3 a1b2c3d4 a1b2c3d4e5
  a1b2c3d4e5f6 a1b2c3d4e5f6g7 a1b2c3d4e5f6g7h8 1a2b3c4d 1a2b3c4d5e 1a2b3c4d5e6f 1a2b3c4d5e6f7g 1a2b3c4d5e6f7g8h
  0123456789abcdef trustno1 whatever nothing internet computer
  computer1 computer123 monkey monkey123 dragon dragon123 shadow sunshine sunshine1 sunshine123 princess princess1
  princess123 football football1 football123 baseball baseball1 basketball basketball1 basketball123 soccer hockey
  superman superman1 superman123 batman batman123 spiderman spiderman1 starwars starwars1 starwars123 pokemon pokemon123
  minecraft minecraft123 liverpool liverpoolfc manchesterunited manchestercity realmadrid realmadrid123 barcelona
  fcbarcelona fcbarcelona123 chelsea arsenal juventus   summer winter spring autumn summer2023 summer2024 summer2025 winter2023 winter2024 winter2025 freedom flower butterfly
  chocolate cheese cookie banana orange purple ginger pepper   correcthorsebatterystaple thequickbrownfox thequickbrownfoxjumps thequickbrownfoxjumpsoverthelazydog tobeornottobe
  tobeornottobethatisthequestion maytheforcebewithyou supercalifragilisticexpialidocious onceuponatime
  twinkletwinklelittlestar youllneverwalkalone youneverwalkalone neverwalkalone nevergonnagiveyouup wearethechampions
  hakunamatata carpediem
  `
    .split(/\s+/)
    .filter(Boolean),
);
