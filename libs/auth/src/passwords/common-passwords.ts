import { FREQUENT_PASSWORDS } from './frequent-passwords';

/** Returns whether a password is in the list of common passwords. The password must be in lower case. */
export function isCommonPassword(password: string): boolean {
  // The list is searched as one string, which takes microseconds. A set would need several times the memory. Passwords
  // with a space are excluded, because they could match two adjacent entries.
  return ADDED.has(password) || (!password.includes(' ') && FREQUENT_PASSWORDS.includes(` ${password} `));
}

/**
 * Common phrases and variants that `FREQUENT_PASSWORDS` lacks, because leaks contain mostly short passwords. Compiled
 * for this library from general knowledge. Other rules of `predictabilityProblem` detect repetitions and runs of keys.
 */
const ADDED: ReadonlySet<string> = new Set(
  `
  password123456 password1234567 password12345678 password1234567890 password! password1! password123! p@ssword
  p@ssw0rd p@ssw0rd1 mypassword1 mypassword123 mypassword1234 mysecretpassword mysupersecretpassword thisismypassword1
  thisisnotapassword thepasswordispassword passwordispassword newpassword123 changepassword changeme123 changemeplease
  pleasechangeme changethispassword defaultpassword temporarypassword temppassword123 testpassword testpassword123
  testpassword1234 strongpassword strongpassword123 securepassword securepassword123 supersecret supersecretpassword
  secretpassword123 topsecretpassword nopasswordhere forgotpassword forgotmypassword iforgotmypassword
  iforgotthepassword idontknowmypassword rememberthispassword rootpassword adminpassword adminpassword123
  administrator1 administrator123 administrator1234 admin123 admin1234 admin12345 admin123456 adminadmin1 superadmin
  superadmin123 sysadmin rootroot1 guest123 welcome1234 welcome12345 welcometotheclub welcomehome123 letmein1234
  letmeinplease opensesame123 login123 helloworld1 helloworld123 helloworld12345 hellohello1 ilovemychildren
  ilovejesuschrist ilovechocolate iwillalwaysloveyou jesusismylord jesuschrist1 inthenameofjesus godisgoodallthetime
  qwerty12! qwerty123! qwertypassword qwertyqwerty1 abcd1234! abc123456789! a1b2c3d4e5f6g7 a1b2c3d4e5f6g7h8
  1a2b3c4d5e6f7g 1a2b3c4d5e6f7g8h 0123456789abcdef sunshine123 manchestercity realmadrid123 fcbarcelona123 summer2023
  summer2024 summer2025 winter2023 winter2024 winter2025 correcthorsebatterystaple thequickbrownfox
  thequickbrownfoxjumps thequickbrownfoxjumpsoverthelazydog tobeornottobethatisthequestion maytheforcebewithyou
  supercalifragilisticexpialidocious onceuponatime twinkletwinklelittlestar youllneverwalkalone youneverwalkalone
  neverwalkalone nevergonnagiveyouup
  `
    .split(/\s+/)
    .filter(Boolean),
);
