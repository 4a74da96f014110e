/** The entry points of the package, and where they stand below lib. */
export const ENTRIES = {
  index: 'index',
  testing: 'memory/testing/index',
  terminus: 'watch/terminus/index',
  opentelemetry: 'watch/opentelemetry/index',
  prometheus: 'watch/prometheus/index',
  board: 'watch/board/index',
};
