-- A project is known by its root commit. Where its repository is differs from place to place: common_dir of a project is
-- where it was first seen, and only keeps two from being added at once.
ALTER TABLE projects ADD COLUMN root TEXT;      -- NULL until somebody has looked, or as long as there is no commit

CREATE TABLE checkouts (
  place TEXT NOT NULL,          -- as of runs
  common_dir TEXT NOT NULL,
  project TEXT NOT NULL REFERENCES projects (id),
  PRIMARY KEY (place, common_dir)
) {without_rowid};
CREATE UNIQUE INDEX checkouts_by_project ON checkouts (project, place);
INSERT INTO checkouts (place, common_dir, project)
  SELECT DISTINCT r.place, p.common_dir, p.id FROM runs r JOIN projects p ON p.id = r.project;

-- Places whose runners are up, and what they can start.
CREATE TABLE hosts (
  place TEXT PRIMARY KEY,
  name TEXT NOT NULL,           -- of the machine, for people
  agents TEXT NOT NULL,         -- JSON list
  projects TEXT NOT NULL,       -- JSON list of ids
  seen_at BIGINT NOT NULL
);
