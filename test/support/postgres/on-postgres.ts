// Imported first, this has a file of tests use PostgreSQL however it is started.

process.env.CAMBISTA_TEST_ENGINE = 'postgres'
