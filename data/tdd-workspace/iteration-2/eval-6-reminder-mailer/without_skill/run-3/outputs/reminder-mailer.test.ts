// The tests of reminder-mailer.ts are still to be written.
