import type { AuthEventEntry } from '../../domain/auth-event';
import type { DeviceType } from '../../domain/device';
import type { Session, SessionState } from '../../domain/session';
import type { TokenPair } from '../../domain/token-pair';

export interface DetailResponse {
  detail: string;
}

export interface TokenPairResponse {
  access_token: string;
  refresh_token: string;
  token_type: 'Bearer';
}

export interface LoginResponse extends TokenPairResponse {
  session_id: string;
}

export interface SessionResponse {
  id: string;
  state: SessionState;
  ip_address: string | null;
  device_type: DeviceType;
  os_family: string;
  browser_family: string;
  device_name: string;
  created_at: string;
  last_activity: string;
  is_current: boolean;
}

export interface HistoryEntryResponse {
  id: number;
  event: string;
  ip_address: string | null;
  user_agent: string;
  extra: Readonly<Record<string, unknown>>;
  timestamp: string;
}

export function tokenPairResponse(pair: TokenPair): TokenPairResponse {
  return { access_token: pair.accessToken, refresh_token: pair.refreshToken, token_type: 'Bearer' };
}

export function sessionResponse(session: Session): SessionResponse {
  return {
    id: session.id,
    state: session.state,
    ip_address: session.ipAddress,
    device_type: session.deviceType,
    os_family: session.osFamily,
    browser_family: session.browserFamily,
    device_name: session.deviceName,
    created_at: session.createdAt.toISOString(),
    last_activity: session.lastActivity.toISOString(),
    is_current: session.isCurrent,
  };
}

export function historyEntryResponse(entry: AuthEventEntry): HistoryEntryResponse {
  return {
    id: entry.id,
    event: entry.event,
    ip_address: entry.ipAddress,
    user_agent: entry.userAgent,
    extra: entry.extra,
    timestamp: entry.timestamp.toISOString(),
  };
}
