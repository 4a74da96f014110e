/** Each folder of lib, and the others it may import. Nothing points back. `.` is the root. */
export const LAYERS: Record<string, readonly string[]> = {
  '.': [
    'nest',
    'nest/decorators',
    'nest/interceptors',
    'nest/services',
    'engine/inspection',
    'engine/fencing',
    'engine/client',
    'engine/locks',
    'engine/keys',
  ],
  nest: ['nest/decorators', 'nest/interceptors', 'nest/services', 'engine/locks', 'memory'],
  'nest/decorators': ['nest/interceptors', 'nest/services', 'engine/client', 'engine/keys'],
  'nest/interceptors': ['nest/services', 'engine/client', 'engine/keys'],
  'nest/services': ['engine/inspection', 'engine/client', 'engine/locks', 'engine/keys'],
  'engine/inspection': ['engine/client', 'engine/locks', 'engine/keys'],
  'engine/client': ['engine/locks'],
  'engine/fencing': ['engine/client'],
  'engine/keys': [],
  'engine/locks': ['engine/redis'],
  'engine/redis': [],
  'engine/protocol': [],
  'engine/options': [],
  'engine/events': [],
  'engine/errors': [],
  memory: ['engine/redis', 'engine/locks'],
  'memory/testing': ['nest', 'nest/services', 'engine/client', 'engine/locks', 'memory'],
  'watch/board': ['nest/services', 'engine/inspection'],
  'watch/terminus': ['nest/services', 'engine/inspection'],
  'watch/opentelemetry': ['watch/telemetry'],
  'watch/prometheus': ['watch/telemetry'],
  'watch/telemetry': [],
  'watch/cli': [
    'engine/inspection',
    'engine/client',
    'engine/locks',
    'engine/redis',
    'engine/keys',
  ],
};

/** May be imported by all, and import nothing but each other. */
export const GROUND = ['engine/protocol', 'engine/options', 'engine/events', 'engine/errors'];

/** The files of locks/ that other layers may see: names and interfaces, nothing that works. */
export const VISIBLE: Record<string, RegExp> = {
  'engine/locks': /^engine\/locks\/[\w-]+\.js$/,
};
