import type { LoginResult } from '../parts/login';
import type { RefreshResult } from '../parts/refresh';
import type { Finding } from '../results';
import { DATABASE_NAMES } from './names';
import type { Section } from './section';
import { origin, ratioText, spreadText, table } from './text';

export function refreshSection(finding: Finding<RefreshResult>): Section {
  const rows = finding.result.cells.map(({ database, clients, update, refresh }) => [
    DATABASE_NAMES[database],
    String(clients),
    spreadText(update.perSecond),
    spreadText(refresh.perSecond),
    ratioText(refresh.ofLimit),
    spreadText(refresh.p50Ms),
    spreadText(refresh.p99Ms),
  ]);
  const head = ['Database', 'Clients', 'UPDATE/s', 'Refresh/s', 'of the UPDATE', 'p50 ms', 'p99 ms'];
  return { text: `${origin(finding)}\n\n${table(head, rows)}` };
}

export function loginSection(finding: Finding<LoginResult>): Section {
  const { bcryptCost, clients, cells } = finding.result;
  const rows = cells.map(({ database, hash, multi, limited }) => [
    DATABASE_NAMES[database],
    spreadText(hash.perSecond),
    spreadText(multi.perSecond),
    ratioText(multi.ofLimit),
    spreadText(limited.perSecond),
    ratioText(limited.ofLimit),
  ]);
  const head = ['Database', 'Bare hash/s', 'Login/s', 'of the hash', 'Login at a limit/s', 'of the hash'];
  const how = `bcrypt at cost ${bcryptCost}, ${clients} clients.`;
  return { text: `${origin(finding)} ${how}\n\n${table(head, rows)}` };
}
