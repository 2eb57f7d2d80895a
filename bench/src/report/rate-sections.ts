import type { LoginResult } from '../parts/login';
import type { RefreshResult } from '../parts/refresh';
import type { Measurement } from '../results';
import { DATABASE_NAMES } from './names';
import { figure, origin, ratioText, rounds, spreadText, table } from './text';

const REFRESH_HEAD = ['Database', 'Clients', 'UPDATE/s', 'Refresh/s', 'relative to the UPDATE', 'p50 ms', 'p99 ms'];
const STORAGE_HEAD = ['Database', 'Grace period', 'Bytes, never refreshed', 'Bytes, refreshed', 'Ratio'];

export function refreshSection(measurement: Measurement<RefreshResult>): string {
  const { cells, storage } = measurement.result;
  const rates = cells.map(({ database, clients, update, refresh }) => [
    DATABASE_NAMES[database],
    String(clients),
    spreadText(update.perSecond),
    spreadText(refresh.perSecond),
    ratioText(refresh.ratio),
    spreadText(refresh.p50Ms),
    spreadText(refresh.p99Ms),
  ]);
  const stored = storage.map(({ database, graceSeconds, neverRefreshed, refreshed }) => [
    DATABASE_NAMES[database],
    graceSeconds === 0 ? 'none' : `${graceSeconds} s`,
    figure(neverRefreshed),
    figure(refreshed),
    (refreshed / neverRefreshed).toFixed(2),
  ]);
  const parts = [`${origin(measurement)} ${rounds(measurement)}`, table(REFRESH_HEAD, rates)];
  if (storage.length > 0) {
    parts.push(
      `Stored bytes per session after ${storage[0]!.refreshes} refreshes, without the event log:`,
      table(STORAGE_HEAD, stored),
    );
  }
  return parts.join('\n\n');
}

export function loginSection(measurement: Measurement<LoginResult>): string {
  const { bcryptCost, clients, cells } = measurement.result;
  const rows = cells.map(({ database, hash, multi, limited }) => [
    DATABASE_NAMES[database],
    spreadText(hash.perSecond),
    spreadText(multi.perSecond),
    ratioText(multi.ratio),
    spreadText(limited.perSecond),
    ratioText(limited.ratio),
  ]);
  const head = ['Database', 'Bare hash/s', 'Login/s', 'relative to the hash', 'Login at the limit/s', 'to the hash'];
  const conditions = `${rounds(measurement)} bcrypt at cost ${bcryptCost}, ${clients} clients.`;
  return `${origin(measurement)} ${conditions}\n\n${table(head, rows)}`;
}
