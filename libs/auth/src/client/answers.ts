import { ClientError, type ClientErrorCode } from './errors.js';
import { camelCase, isRecord, type JsonRecord } from './wire.js';

const BY_STATUS: Readonly<Record<number, ClientErrorCode>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  429: 'too_many_attempts',
  503: 'unavailable',
};
const OF_THE_SERVER: readonly ClientErrorCode[] = ['recent_login_required', 'session_limit_reached'];

/** The JSON of a good answer; a refusal is thrown. */
export async function readAnswer(response: Response): Promise<unknown> {
  if (!response.ok) throw await refusalOf(response);
  try {
    return await response.json();
  } catch (cause) {
    throw new ClientError('no_answer', 'The answer broke off.', { status: response.status, cause });
  }
}

/** What a refusal says, whoever has written it: proxies answer in shapes of their own. */
export async function refusalOf(response: Response): Promise<ClientError> {
  const { status } = response;
  const body: unknown = await response.json().catch(() => null);
  const told = isRecord(body) ? body : {};
  const { non_field_errors: general, ...others } = messages(told);
  const fields = Object.fromEntries(Object.entries(others).map(([name, texts]) => [camelCase(name), texts]));
  const [named] = Object.values(fields).flat();
  const detail = typeof told['detail'] === 'string' ? told['detail'] : (general?.[0] ?? named ?? `Answered ${status}.`);
  return new ClientError(codeOf(status, told, general, named), detail, {
    status,
    fields,
    retryAfter: seconds(response),
  });
}

function codeOf(status: number, told: JsonRecord, general?: readonly string[], named?: string): ClientErrorCode {
  const own = OF_THE_SERVER.find((code) => code === told['code']);
  if (own) return own;
  if (status === 400 && general) return 'invalid_credentials';
  if (status === 400 && named !== undefined) return 'invalid_fields';
  return BY_STATUS[status] ?? 'unexpected_answer';
}

function messages(told: JsonRecord): Record<string, readonly string[]> {
  const lists = Object.entries(told).filter(
    (entry): entry is [string, string[]] => Array.isArray(entry[1]) && entry[1].every((one) => typeof one === 'string'),
  );
  return Object.fromEntries(lists);
}

/** `Retry-After` (RFC 9110, section 10.2.3) in seconds; as a date it is not used by the server. */
function seconds(response: Response): number | null {
  const header = response.headers.get('Retry-After');
  return header !== null && /^\d+$/.test(header) ? Number(header) : null;
}
