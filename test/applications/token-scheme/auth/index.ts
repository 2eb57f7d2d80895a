// The tests replace this file with either variant.
export * from './before';
