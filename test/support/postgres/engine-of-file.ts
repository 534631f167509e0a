// In a run of both, tests of the suites use PostgreSQL. Those of test/engines say themselves which engine they mean.

const { argv, env } = process
const isTest = env.NODE_TEST_CONTEXT !== undefined // and not the process that starts the tests
if (isTest && !argv[1]?.includes('/engines/')) env.CAMBISTA_TEST_ENGINE = 'postgres'
