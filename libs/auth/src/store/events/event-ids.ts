import { Injectable } from '@nestjs/common';
import { CryptoSource } from '../../domain/ports/platform';

const EPOCH = Date.UTC(2020, 0, 1);
const IDS_PER_MS = 4096;

/** Returns the smallest possible id of an event at this instant. Ids increase with time. */
export function firstEventIdAt(at: number): number {
  return Math.max(1, at - EPOCH) * IDS_PER_MS;
}

/**
 * Generates the ids of events: integers below 2^53, which are the milliseconds since 2020 times 4096 plus
 * an offset. The first offset of a millisecond and the steps to further ids are random, so that instances
 * rarely generate the same id. If two instances generate the same id, the transaction that fails is run
 * again with new ids.
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
