-- The version of this plugin; the server's must be the same.
return '0.1.0'
