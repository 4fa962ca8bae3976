"""A plain statement of the door, the policies and the merging, against which every host is held."""
