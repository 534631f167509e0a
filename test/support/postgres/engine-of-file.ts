// In a run of both engines, tests of the suites use PostgreSQL. Tests of test/engines choose their engine themselves.

const { argv, env } = process
const isTest = env.NODE_TEST_CONTEXT !== undefined // not the process that starts the tests
if (isTest && !argv[1]?.includes('/engines/')) env.CAMBISTA_TEST_ENGINE = 'postgres'
