// Imported first, this makes a test file use PostgreSQL, also outside a run of the suites.

process.env.CAMBISTA_TEST_ENGINE = 'postgres'
