import { cookieValues, occursInCookies, onlyCookieValue } from '../../libs/auth/src/http/cookies/cookie-rules';

const NAME = '__Host-auth_access';
const valuesIn = (cookie: string): string[] => cookieValues({ headers: { cookie } }, NAME);

describe('the values of a cookie', () => {
  it.each([
    ['', []],
    [`${NAME}=a`, ['a']],
    [`a=b; ${NAME}=c;d=e`, ['c']],
    [`${NAME}=a; ${NAME}=b; ${NAME}=a`, ['a', 'b', 'a']],
    [`${NAME}=; ${NAME} = b`, ['', 'b']],
    [`${NAME}="a"`, ['a']],
    [`${NAME}=%61`, ['%61']],
    [`x${NAME}=a; ${NAME}x=b; ${NAME.toLowerCase()}=c; ${NAME}`, []],
    [`a=${NAME}=b; __proto__=c; ;=;`, []],
  ])('the Cookie header %j has the values %j', (cookie, values) => {
    expect(valuesIn(cookie)).toEqual(values);
  });

  it('a request without a Cookie header has no values', () => {
    expect(cookieValues({ headers: {} }, NAME)).toEqual([]);
  });

  it('more than one value is refused where only one is allowed', () => {
    const only = (cookie: string): string | null => onlyCookieValue({ headers: { cookie } }, NAME);
    expect([only(`${NAME}=a`), only(`${NAME}=`), only('a=b')]).toEqual(['a', null, null]);
    expect(() => only(`${NAME}=a; ${NAME}=`)).toThrow(`More than one cookie ${NAME} was sent.`);
  });
});

describe('a token in a cookie of the application', () => {
  it.each([
    't=nsaa_abc',
    'a=%; t=s%3Answw; u=j%3A%7B%22t%22%3A%22nsaa_abc%22%7D',
    't=nsa%61_abc',
    'a=%zz; t="nsaa_abc"',
  ])('occurs in the Cookie header %j', (cookie) => {
    expect(occursInCookies({ headers: { cookie } }, 'nsaa_abc')).toBe(true);
  });

  it.each(['', 't=nsaa_ab', 't=%6esaa'])('does not occur in the Cookie header %j', (cookie) => {
    expect(occursInCookies({ headers: { cookie } }, 'nsaa_abc')).toBe(false);
    expect(occursInCookies({ headers: {} }, 'nsaa_abc')).toBe(false);
  });
});
