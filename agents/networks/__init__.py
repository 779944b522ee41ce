"""Networks of policy and values (torch), and the files that hold them."""
