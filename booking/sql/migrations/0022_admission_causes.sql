-- Why, in a code with parameters beside the English words, so that consoles say it in their own language. NULL: a person's own words, or
-- from before.
ALTER TABLE admission_changes ADD COLUMN cause jsonb;
ALTER TABLE admission_states ADD COLUMN cause jsonb;
