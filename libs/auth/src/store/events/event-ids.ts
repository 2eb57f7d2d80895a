import { Injectable } from '@nestjs/common';
import { CryptoSource } from '../../domain/ports/platform';

const FIRST_YEAR = Date.UTC(2020, 0, 1);
const IDS_PER_MS = 4096;

/** The smallest id of the events of an instant: ids rise with time. */
export function firstEventIdAt(at: number): number {
  return Math.max(1, at - FIRST_YEAR) * IDS_PER_MS;
}

/**
 * Ids of events: whole numbers below 2^53, milliseconds since 2020 times 4096. Where one starts within its millisecond, and
 * how far the next one is, is random, so that instances seldom choose the same. If they do, the transaction is run again
 * with other ids.
 */
@Injectable()
export class EventIds {
  private last = 0;

  constructor(private readonly crypto: CryptoSource) {}

  next(at: number): number {
    const first = firstEventIdAt(at);
    this.last = this.last < first ? first + this.crypto.randomInt(2048) : this.last + 1 + this.crypto.randomInt(512);
    return this.last;
  }
}
