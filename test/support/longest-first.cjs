const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * The slowest files. Jest cannot detect them by their size, because they have few lines and many cases. A slow file
 * that starts last leaves the other workers idle.
 */
const LONGEST = [
  'test/crash/kill.spec.ts',
  'test/properties/model.spec.ts',
  'test/races/interleavings.spec.ts',
  'test/faults/faults.spec.ts',
  'test/races/guard-conditions.spec.ts',
  'test/package/front-ends.spec.ts',
  'test/package/packed-library.spec.ts',
  'test/browser/sample-page.spec.ts',
  'test/browser/browser-tabs.spec.ts',
  'test/browser/transport.spec.ts',
];

/** Starts the longest files first, and the others in the order of Jest. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const rankOf = ({ path }) => {
      const rank = LONGEST.findIndex((name) => path.endsWith(name));
      return rank === -1 ? LONGEST.length : rank;
    };
    return super.sort(tests).sort((one, other) => rankOf(one) - rankOf(other));
  }
};
