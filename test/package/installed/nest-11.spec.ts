import { describeApplication, JEST } from './application.js';

describeApplication('nest-11', 'a Nest 11 CommonJS application with Jest 29', {
  'ts-jest': JEST,
  '@swc/jest': [...JEST, '--config=jest.swc.json'],
});
