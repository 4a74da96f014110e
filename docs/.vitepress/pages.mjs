/** Every page of the site by its group, in the order in which the sidebar has them. */
export const PAGES = [
  [
    'Use',
    [
      ['Start', 'start'],
      ['When not to use this', 'when-not'],
      ['Recipes', 'recipes'],
      ['The decorator', 'decorator'],
      ['The service', 'service'],
      ['Semaphores and readers', 'semaphores-and-readers'],
      ['Conditions and leaders', 'conditions-and-leaders'],
      ['Fencing', 'fencing'],
      ['Tests of your application', 'testing'],
    ],
  ],
  [
    'Run',
    [
      ['Operations', 'operations'],
      ['Metrics and traces', 'metrics-and-traces'],
      ['Events', 'events'],
      ['The page', 'page'],
      ['Command line', 'command-line'],
      ['Troubleshooting', 'troubleshooting'],
      ['Topologies', 'topologies'],
      ['Servers', 'servers'],
      ['Where Redis can fail', 'faults'],
    ],
  ],
  [
    'Beside others',
    [
      ['Other services’ locks', 'other-services'],
      ['Migration', 'migration'],
    ],
  ],
  [
    'Look up',
    [
      ['Options', 'options'],
      ['Errors', 'errors'],
      ['Performance', 'performance'],
      ['One of N replicas', 'one-of-n'],
      ['Protocol', 'protocol'],
      ['The model', 'model/'],
      ['Decisions', 'decisions/'],
      ['API', 'api/'],
    ],
  ],
];
